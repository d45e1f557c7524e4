//! Embeds Mast: a tool of its own, one task with a scripted model, and the journal of it.

use std::sync::Arc;

use async_trait::async_trait;
use mast_kernel::id::{PrincipalId, TenantId};
use mast_kernel::permit::{Claimed, Permit};
use mast_kernel::policy::{Authority, Overlay, Policy};
use mast_kernel::{scope, spec::ToolSpec};
use mast_provider::{ProviderConfig, Script};
use mast_runtime::{NewSession, RunRequest, Runtime, Silent, Surface, World};
use mast_tools::{Cancellation, Context, Failure, Output, Tool, Toolbox};
use serde_json::{Value, json};

#[derive(Debug)]
struct Reverse;

#[async_trait]
impl Tool for Reverse {
    fn spec(&self) -> ToolSpec {
        let text = json!({"type": "object", "properties": {"text": {"type": "string", "maxLength": 1000}},
            "required": ["text"], "additionalProperties": false});
        ToolSpec::pure("app.reverse", "Reverses a text, character by character.", text.clone(), text)
    }

    async fn run(&self, permit: Claimed<Permit>, _: &Context) -> Result<Output, Failure> {
        let arguments = permit.arguments().value();
        let reversed: String =
            arguments.get("text").and_then(Value::as_str).unwrap_or("").chars().rev().collect();
        Ok(Output::new(reversed.clone(), json!({ "text": reversed })))
    }
}

const SCRIPT: &str = "- calls: [{tool: app.reverse, args: {text: tsam}}]\n- text: It is mast.";

#[tokio::main(flavor = "current_thread")]
#[expect(clippy::print_stdout, reason = "an example shows what it did")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let world = World::system();
    let store = Arc::new(world.memory_store());
    let toolbox = Arc::new(Toolbox::new(&[Arc::new(Reverse)])?);
    let runtime = Runtime::new(store.clone(), toolbox, Policy::builtin(Overlay::On), world);
    let config = ProviderConfig { script: Some(Script::parse(SCRIPT)?), ..ProviderConfig::default() };
    let model = mast_provider::build("scripted", &config)?;
    let (tenant, principal) = (TenantId::from_u128(1), PrincipalId::from_u128(1));
    let authority = Authority { tenant, principal, scopes: scope::platform() };
    let mut session = runtime.open_session(NewSession { authority, surface: "example" }).await?;
    let surface = Surface { observer: &Silent, cancellation: &Cancellation::new(), judge: None };
    let end = runtime.run(&mut session, RunRequest::typed("Reverse tsam."), model.as_ref(), surface).await?;
    println!("{}", end.answer.unwrap_or_default());
    for event in runtime.store().events(session.id(), 0, 0).await? {
        println!("{:>3} {}", event.sequence, event.kind);
    }
    Ok(())
}
