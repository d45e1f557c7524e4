//! The registry: every tool that this process knows, checked before anything could call one.
//!
//! It is built once, from the declarations alone: no I/O, no configuration, no order in which tools
//! would have to come. What is wrong refuses the start and is never repaired, because a tool whose
//! declaration is not as its author thinks is judged by rules that nobody chose. The order of the
//! checks is fixed, so that one roster always gives one refusal. See `docs/spec/registry.md`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::canonical::{Canonical, Digest, NotCanonical};
use crate::schema::{self, Validator, Violation, apply_defaults};
use crate::spec::{Alias, ToolSpec};

mod alias;
mod field;
mod refusal;
mod step;
mod version;

pub use refusal::{FieldFault, Refusal, SchemaSide};
pub use version::Version;

/// A tool that passed every check.
#[derive(Debug)]
pub struct Registered {
    /// Its declaration.
    pub spec: ToolSpec,
    /// Its definition pin.
    pub pin: Digest,
    input: Validator,
    output: Option<Validator>,
}

/// Why arguments were not taken at gate step 4 or 5.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentFault {
    /// They do not fit the schema.
    #[error("the arguments violate {} at {:?}", .0.keyword, .0.instance)]
    Violation(Violation),
    /// They have no canonical form.
    #[error("the arguments have no canonical form")]
    NotCanonical(#[source] NotCanonical),
}

impl Registered {
    fn new(spec: ToolSpec) -> Result<Self, NotCanonical> {
        let pin = spec.pin()?;
        let input = Validator::new(spec.input_schema.clone());
        let output = spec.output_schema.clone().map(Validator::new);
        Ok(Self { spec, pin, input, output })
    }

    /// The arguments that a call is judged and run with: defaults applied, numbers in their one spelling,
    /// in canonical form, and fitting the schema.
    ///
    /// # Errors
    ///
    /// [`ArgumentFault`]; [`Self::code_for`] has its reason code.
    pub fn arguments(&self, mut given: Value) -> Result<Canonical, ArgumentFault> {
        apply_defaults(&self.spec.input_schema, &mut given);
        let canonical = Canonical::of(&given).map_err(ArgumentFault::NotCanonical)?;
        // The schema looks at the canonical numbers, so that `1.0` is the integer that the tool will see.
        self.input.validate(&canonical.value()).map_err(ArgumentFault::Violation)?;
        Ok(canonical)
    }

    /// The reason code of arguments that were not taken.
    #[must_use]
    pub fn code_for(&self, fault: &ArgumentFault) -> &str {
        match fault {
            ArgumentFault::Violation(violation) => schema::code_for(&self.spec.schema_codes, violation),
            ArgumentFault::NotCanonical(_) => schema::DEFAULT_CODE,
        }
    }

    /// Whether a structured result fits what the tool declares; anything does where it declares nothing.
    ///
    /// # Errors
    ///
    /// The [`Violation`].
    pub fn check_output(&self, output: &Value) -> Result<(), Violation> {
        self.output.as_ref().map_or(Ok(()), |validator| validator.validate(output))
    }

    /// Compiles both schemas now. A start does without (see [`crate::schema`]); a test does it for the
    /// whole roster.
    ///
    /// # Errors
    ///
    /// [`Refusal::Schema`].
    pub fn compile(&self) -> Result<(), Refusal> {
        let refuse = |side| move |fault| Refusal::Schema { tool: self.spec.name.clone(), side, fault };
        self.input.compile().map_err(refuse(SchemaSide::Input))?;
        self.output.as_ref().map_or(Ok(()), |output| output.compile().map_err(refuse(SchemaSide::Output)))
    }
}

/// A tool that a name led to.
#[derive(Debug, Clone, Copy)]
pub struct Resolved<'a> {
    /// The tool.
    pub tool: &'a Registered,
    /// The alias by which it was reached, whose arguments must be renamed.
    pub alias: Option<&'a Alias>,
}

/// Every tool of the process.
#[derive(Debug)]
pub struct Registry {
    tools: BTreeMap<String, BTreeMap<Version, Registered>>,
    /// Alias to the registry names that bear it; more than one only where an action selects.
    aliases: BTreeMap<String, Vec<String>>,
    provider_safe: BTreeMap<String, String>,
}

impl Registry {
    /// Checks every declaration and builds the registry. Each check looks at all of them before the next
    /// check begins.
    ///
    /// # Errors
    ///
    /// The first [`Refusal`].
    pub fn build(specs: Vec<ToolSpec>) -> Result<Self, Refusal> {
        step::check(&specs)?;
        let aliases = step::aliases(&specs)?;
        let provider_safe = step::provider_names(&specs)?;
        let mut tools: BTreeMap<String, BTreeMap<Version, Registered>> = BTreeMap::new();
        for spec in specs {
            let (name, version) = (spec.name.clone(), Version::parse(&spec.version));
            let version = version.ok_or_else(|| Refusal::field(&name, FieldFault::Version))?;
            let registered = Registered::new(spec).map_err(|_| Refusal::not_canonical(&name))?;
            tools.entry(name).or_default().insert(version, registered);
        }
        Ok(Self { tools, aliases, provider_safe })
    }

    /// The tool of this registry name: of the version asked for, exactly, deprecated or not; without one,
    /// the latest that is not deprecated.
    #[must_use]
    pub fn get(&self, name: &str, version: Option<&str>) -> Option<&Registered> {
        let versions = self.tools.get(name)?;
        match version {
            Some(text) => versions.get(&Version::parse(text)?),
            None => latest_of(versions),
        }
    }

    /// The tool that a registry name, a provider-safe name or an alias leads to, where the name alone
    /// tells.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Resolved<'_>> {
        self.resolve_call(name, &Value::Null)
    }

    /// The tool that a call means, by its name and, for an alias that packs several actions, by the
    /// argument that selects one.
    #[must_use]
    pub fn resolve_call(&self, name: &str, arguments: &Value) -> Option<Resolved<'_>> {
        let plain = |tool| Resolved { tool, alias: None };
        if let Some(versions) = self.tools.get(name) {
            return latest_of(versions).map(plain);
        }
        if let Some(registered) = self.provider_safe.get(name) {
            return self.get(registered, None).map(plain);
        }
        self.aliases.get(name)?.iter().find_map(|tool| {
            let tool = self.get(tool, None)?;
            let alias =
                tool.spec.aliases.iter().find(|alias| alias.name == name && alias.selects(arguments))?;
            Some(Resolved { tool, alias: Some(alias) })
        })
    }

    /// Whether this is an alias that needs its arguments to be resolved.
    #[must_use]
    pub fn is_packed(&self, name: &str) -> bool {
        self.aliases.get(name).is_some_and(|tools| tools.len() > 1)
    }

    /// The latest version of every tool, in the order of names; deprecated ones are passed over.
    pub fn latest(&self) -> impl Iterator<Item = &Registered> {
        self.tools.values().filter_map(latest_of)
    }

    /// Every version of every tool, in the order of names and then of versions.
    pub fn all(&self) -> impl Iterator<Item = &Registered> {
        self.tools.values().flat_map(BTreeMap::values)
    }

    /// Compiles every schema, which a test does for the whole roster.
    ///
    /// # Errors
    ///
    /// The first [`Refusal::Schema`].
    pub fn compile_all(&self) -> Result<(), Refusal> {
        self.all().try_for_each(Registered::compile)
    }
}

fn latest_of(versions: &BTreeMap<Version, Registered>) -> Option<&Registered> {
    versions.values().rev().find(|tool| !tool.spec.deprecated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::Scope;
    use crate::spec::{Egress, Idempotency, Risk, SchemaCode, SideEffect, TargetKind, ToolKind, ToolSource};
    use crate::trust::{Sensitivity, Trust};
    use serde_json::json;

    fn tool(name: &str) -> ToolSpec {
        ToolSpec {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            description: "Does something.".to_owned(),
            input_schema: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string", "maxLength": 8},
                    "count": {"type": "integer", "default": 1},
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
            output_schema: Some(json!({
                "type": "object",
                "properties": {"n": {"type": "integer"}},
                "additionalProperties": false,
            })),
            side_effect: SideEffect::None,
            risk: Risk::Low,
            idempotency: Idempotency::ReadOnly,
            required_scopes: Vec::new(),
            timeout_seconds: 5,
            maximum_output_bytes: 4_096,
            allow_parallel: true,
            kind: ToolKind::Capability,
            target_kind: TargetKind::InProcess,
            output_trust: Trust::InternalTool,
            output_sensitivity: Sensitivity::Public,
            egress: Egress::None,
            free_arguments: Vec::new(),
            schema_codes: Vec::new(),
            aliases: Vec::new(),
            source: ToolSource::Builtin,
            server_id: None,
            deprecated: false,
        }
    }

    fn mcp_tool(name: &str) -> ToolSpec {
        ToolSpec {
            source: ToolSource::Mcp,
            server_id: Some("files".to_owned()),
            target_kind: TargetKind::McpServer,
            output_trust: Trust::ExternalUntrusted,
            ..tool(name)
        }
    }

    /// A tool with something changed.
    fn with(mut spec: ToolSpec, change: impl FnOnce(&mut ToolSpec)) -> ToolSpec {
        change(&mut spec);
        spec
    }

    fn refused(specs: Vec<ToolSpec>) -> String {
        Registry::build(specs).unwrap_err().to_string()
    }

    fn check(spec: ToolSpec, expect: &expect_test::Expect) {
        expect.assert_eq(&refused(vec![tool("math.sound"), spec]));
    }

    #[test]
    fn refusal_1_the_name_is_not_one() {
        check(
            tool("Math.calculate"),
            &expect_test::expect![[
                r#"tool "Math.calculate": not a tool name. Use two or more segments of lower-case letters, digits and underscores, each beginning with a letter, joined by dots, at most 96 characters."#
            ]],
        );
    }

    #[test]
    fn gate_builtin_reserved_domain() {
        check(
            tool("mcp.anything"),
            &expect_test::expect![
                "tool mcp.anything: the domain mcp belongs to servers and devices. Rename the tool."
            ],
        );
        check(
            tool("device.anything"),
            &expect_test::expect![
                "tool device.anything: the domain device belongs to servers and devices. Rename the tool."
            ],
        );
        assert!(Registry::build(vec![mcp_tool("mcp.files.stat")]).is_ok());
    }

    #[test]
    fn refusal_3_the_domain_is_not_one_for_it() {
        check(
            tool("maths.calculate"),
            &expect_test::expect![
                "tool maths.calculate: maths is not a domain for it. A builtin needs a domain of the list in kernel::name, a server's tool mcp, a device's tool device."
            ],
        );
        assert!(matches!(
            Registry::build(vec![mcp_tool("math.calculate")]),
            Err(Refusal::UnknownDomain { .. })
        ));
        let device = with(tool("mcp.phone"), |spec| {
            spec.source = ToolSource::Device;
            spec.output_trust = Trust::ExternalUntrusted;
        });
        assert!(matches!(Registry::build(vec![device]), Err(Refusal::UnknownDomain { .. })));
    }

    #[test]
    fn refusal_4_declared_twice() {
        check(
            tool("math.sound"),
            &expect_test::expect![
                "tool math.sound: version 1.0.0 is declared twice. Give one of them another version."
            ],
        );
        let newer = with(tool("math.sound"), |spec| spec.version = "1.1.0".to_owned());
        assert!(Registry::build(vec![tool("math.sound"), newer]).is_ok());
    }

    #[test]
    fn refusal_5_a_schema_is_not_valid() {
        let open = with(tool("math.open"), |spec| spec.input_schema = json!({"type": "object"}));
        check(
            open,
            &expect_test::expect![[
                r#"tool math.open: its input schema is not valid. Correct it: the object at "" must say "additionalProperties": false"#
            ]],
        );
        let remote = with(tool("math.remote"), |spec| {
            spec.output_schema = Some(json!({
                "type": "object",
                "properties": {"n": {"$ref": "https://example.com/n.json"}},
                "additionalProperties": false,
            }));
        });
        check(
            remote,
            &expect_test::expect![[
                r##"tool math.remote: its output schema is not valid. Correct it: the $ref at "/properties/n/$ref" must begin with # and point at a schema inside this document"##
            ]],
        );
        let unpinned = with(tool("math.unpinned"), |spec| {
            spec.input_schema["properties"]["count"]["default"] = json!(-0.0);
        });
        check(
            unpinned,
            &expect_test::expect![
                "tool math.unpinned: its input schema is not valid. Correct it: a value in it has no canonical form"
            ],
        );
        let foreign = with(mcp_tool("mcp.files.stat"), |spec| {
            spec.input_schema["properties"]["path"]["pattern"] = json!("(?=x)");
        });
        check(
            foreign,
            &expect_test::expect![[
                r#"tool mcp.files.stat: its input schema is not valid. Correct it: it does not compile at "/properties/path/pattern""#
            ]],
        );
    }

    #[test]
    fn a_foreign_schema_has_a_size() {
        let sized = |length: usize| {
            with(mcp_tool("mcp.files.stat"), |spec| {
                spec.input_schema["description"] = json!("");
                let rest = Canonical::of(&spec.input_schema).unwrap().as_str().len();
                spec.input_schema["description"] = json!("d".repeat(length - rest));
            })
        };
        assert!(Registry::build(vec![sized(crate::limits::FOREIGN_SCHEMA_BYTES_MAX)]).is_ok());
        let text = refused(vec![sized(crate::limits::FOREIGN_SCHEMA_BYTES_MAX + 1)]);
        assert!(text.ends_with("larger than 32768 bytes"), "{text}");
    }

    #[test]
    fn refusal_6_a_field_does_not_fit() {
        type Change = fn(&mut ToolSpec);
        let faults: &[Change] = &[
            |spec| spec.version = "1.0".to_owned(),
            |spec| spec.description = " ".to_owned(),
            |spec| spec.timeout_seconds = 0,
            |spec| spec.maximum_output_bytes = 0,
            |spec| spec.maximum_output_bytes = crate::limits::OUTPUT_BYTES_MAX + 1,
            |spec| spec.free_arguments = vec!["pth".to_owned()],
            |spec| spec.aliases = vec![Alias::plain("two words")],
            |spec| {
                spec.aliases = vec![Alias {
                    arguments: vec![("file_path".to_owned(), "pth".to_owned())],
                    ..Alias::plain("sound")
                }];
            },
            |spec| spec.schema_codes = vec![code("/path", "minLength", "tool.invalid_arguments.schema")],
            |spec| spec.schema_codes = vec![code("/path", "maxLength", "tool.invalid_arguments.no_row")],
            |spec| spec.server_id = Some("files".to_owned()),
            |spec| {
                spec.kind = ToolKind::Control;
                spec.side_effect = SideEffect::WorkspaceRead;
            },
            |spec| {
                spec.kind = ToolKind::Control;
                spec.idempotency = Idempotency::NonIdempotent;
            },
            |spec| {
                spec.kind = ToolKind::Control;
                spec.target_kind = TargetKind::Sandbox;
            },
        ];
        let seen: Vec<String> =
            faults.iter().map(|fault| refused(vec![with(tool("math.a"), fault)])).collect();
        expect_test::expect![[r#"
            tool math.a: version must be three numbers joined by dots, such as 1.0.0.
            tool math.a: description must say what the tool does.
            tool math.a: timeout_seconds must be more than 0.
            tool math.a: maximum_output_bytes must be from 1 to 4194304.
            tool math.a: maximum_output_bytes must be from 1 to 4194304.
            tool math.a: free_arguments names "pth", which the input schema has not.
            tool math.a: the alias "two words" must have 1 to 96 characters and no space.
            tool math.a: the alias "sound" renames to "pth", which the input schema has not.
            tool math.a: schema_codes names minLength at "/path", which the input schema has not.
            tool math.a: schema_codes names tool.invalid_arguments.no_row, which the message table has not.
            tool math.a: server_id is for tools of Model Context Protocol servers, and they need it.
            tool math.a: a control tool must be a builtin with side_effect none, idempotency read_only or idempotent, and target_kind in_process.
            tool math.a: a control tool must be a builtin with side_effect none, idempotency read_only or idempotent, and target_kind in_process.
            tool math.a: a control tool must be a builtin with side_effect none, idempotency read_only or idempotent, and target_kind in_process."#]]
        .assert_eq(&seen.join("\n"));
        let largest =
            with(tool("math.a"), |spec| spec.maximum_output_bytes = crate::limits::OUTPUT_BYTES_MAX);
        assert!(Registry::build(vec![largest]).is_ok());
    }

    #[test]
    fn a_server_is_named_by_its_tools_and_has_scopes_of_its_own() {
        let nameless = with(mcp_tool("mcp.files.stat"), |spec| spec.server_id = None);
        assert!(refused(vec![nameless]).contains("server_id is for tools"));
        let requires = |scope: &str| {
            vec![with(mcp_tool("mcp.files.stat"), |spec| {
                spec.required_scopes = vec![Scope::parse(scope).unwrap()];
            })]
        };
        assert!(Registry::build(requires("mcp.files.read")).is_ok());
        for foreign in ["workspace.write", "mcp.other.read", "mcp.files"] {
            assert!(refused(requires(foreign)).contains(foreign), "{foreign}");
        }
    }

    fn code(instance: &str, keyword: &str, code: &str) -> SchemaCode {
        SchemaCode { instance: instance.to_owned(), keyword: keyword.to_owned(), code: code.to_owned() }
    }

    #[test]
    fn refusal_7_trusted_more_than_its_origin() {
        let expect = expect_test::expect![
            "tool sandbox.run_command: what comes from outside this process is external_untrusted. Declare that as its output_trust."
        ];
        check(with(tool("sandbox.run_command"), |spec| spec.target_kind = TargetKind::Sandbox), &expect);
        for kind in TargetKind::ALL {
            for trust in Trust::ALL {
                let spec = with(tool("sandbox.a"), |spec| {
                    spec.target_kind = *kind;
                    spec.output_trust = trust;
                });
                let fits = *kind == TargetKind::InProcess || trust == Trust::ExternalUntrusted;
                assert_eq!(Registry::build(vec![spec]).is_ok(), fits, "{kind} {trust:?}");
            }
        }
        let server = with(mcp_tool("mcp.files.stat"), |spec| {
            spec.target_kind = TargetKind::InProcess;
            spec.output_trust = Trust::Knowledge;
        });
        assert!(matches!(Registry::build(vec![server]), Err(Refusal::Trust { .. })));
    }

    fn aliased(name: &str, alias: Alias) -> ToolSpec {
        with(tool(name), |spec| spec.aliases = vec![alias])
    }

    fn packed(name: &str, argument: &str, value: &str) -> ToolSpec {
        let action = Some((argument.to_owned(), value.to_owned()));
        aliased(name, Alias { action, ..Alias::plain("manage_jobs") })
    }

    #[test]
    fn refusal_8_an_alias_means_two_tools() {
        let two = || vec![aliased("math.a", Alias::plain("do")), aliased("math.b", Alias::plain("do"))];
        expect_test::expect![[r#"tool math.b: the alias "do" also means math.a. Drop one, or let one argument select between them with a value for each."#]]
            .assert_eq(&refused(two()));
        let named = |alias: &str| vec![aliased("math.a", Alias::plain(alias)), tool("math.b")];
        for namesake in ["math.b", "math_b"] {
            assert!(matches!(Registry::build(named(namesake)), Err(Refusal::Alias { .. })), "{namesake}");
        }
        let same_value = vec![packed("job.list", "action", "list"), packed("job.kill", "action", "list")];
        let other_argument = vec![packed("job.list", "action", "list"), packed("job.kill", "verb", "kill")];
        let one_plain =
            vec![packed("job.list", "action", "list"), aliased("job.kill", Alias::plain("manage_jobs"))];
        for specs in [same_value, other_argument, one_plain] {
            assert!(matches!(Registry::build(specs), Err(Refusal::Alias { .. })));
        }
    }

    #[test]
    fn refusal_9_two_tools_have_one_name_for_providers() {
        expect_test::expect![
            "tool math.a.b: providers would see it as math_a_b, and math.a_b too. Rename one of them."
        ]
        .assert_eq(&refused(vec![tool("math.a_b"), tool("math.a.b")]));
    }

    /// Nine tools with one fault each, and then fewer and fewer of them: always the earliest check
    /// speaks, whatever the order of the roster.
    #[test]
    fn the_order_of_the_checks_is_a_fact() {
        let faulty = || {
            vec![
                vec![tool("UPPER.case")],
                vec![tool("mcp.builtin")],
                vec![tool("unknown.domain")],
                vec![tool("math.twice"), tool("math.twice")],
                vec![with(tool("math.open"), |spec| spec.input_schema = json!({"type": "object"}))],
                vec![with(tool("math.endless"), |spec| spec.timeout_seconds = 0)],
                vec![with(tool("math.outside"), |spec| spec.target_kind = TargetKind::Sandbox)],
                vec![aliased("math.c", Alias::plain("same")), aliased("math.d", Alias::plain("same"))],
                vec![tool("math.x_y"), tool("math.x.y")],
            ]
        };
        let step = |refusal: &Refusal| match refusal {
            Refusal::Name { .. } => 1,
            Refusal::ReservedDomain { .. } => 2,
            Refusal::UnknownDomain { .. } => 3,
            Refusal::Duplicate { .. } => 4,
            Refusal::Schema { .. } => 5,
            Refusal::Field { .. } => 6,
            Refusal::Trust { .. } => 7,
            Refusal::Alias { .. } => 8,
            Refusal::ProviderName { .. } => 9,
        };
        for first in 0..9 {
            let mut specs: Vec<ToolSpec> = faulty().into_iter().skip(first).flatten().collect();
            let refusal = Registry::build(specs.clone()).unwrap_err();
            assert_eq!(step(&refusal), first + 1, "{refusal}");
            specs.reverse();
            let reversed = Registry::build(specs).unwrap_err();
            assert_eq!(step(&reversed), first + 1, "{reversed}");
        }
    }

    #[test]
    fn one_tool_with_every_fault_reports_the_earliest() {
        let worst = with(tool("UPPER.case"), |spec| {
            spec.input_schema = json!({});
            spec.timeout_seconds = 0;
            spec.target_kind = TargetKind::Device;
        });
        let mut seen = Vec::new();
        let repairs: [fn(&mut ToolSpec); 4] = [
            |spec| spec.name = "mcp.x".to_owned(),
            |spec| spec.name = "math.x".to_owned(),
            |spec| spec.input_schema = tool("math.x").input_schema,
            |spec| spec.timeout_seconds = 1,
        ];
        let mut spec = worst;
        for repair in repairs {
            seen.push(Registry::build(vec![spec.clone()]).unwrap_err());
            repair(&mut spec);
        }
        seen.push(Registry::build(vec![spec]).unwrap_err());
        assert!(matches!(
            seen.as_slice(),
            [
                Refusal::Name { .. },
                Refusal::ReservedDomain { .. },
                Refusal::Schema { .. },
                Refusal::Field { .. },
                Refusal::Trust { .. }
            ]
        ));
    }

    fn versions() -> Registry {
        let version = |text: &str, deprecated: bool| {
            with(tool("artifact.export"), |spec| {
                spec.version = text.to_owned();
                spec.deprecated = deprecated;
            })
        };
        Registry::build(vec![
            version("1.9.0", false),
            version("1.10.0", false),
            version("2.0.0", true),
            with(tool("math.old"), |spec| spec.deprecated = true),
            tool("math.a"),
        ])
        .unwrap()
    }

    #[test]
    fn a_lookup_without_a_version_finds_the_latest_that_is_not_deprecated() {
        let registry = versions();
        let found = |name: &str, version| registry.get(name, version).map(|tool| tool.spec.version.as_str());
        assert_eq!(found("artifact.export", None), Some("1.10.0"));
        assert_eq!(found("artifact.export", Some("1.9.0")), Some("1.9.0"));
        assert_eq!(found("artifact.export", Some("2.0.0")), Some("2.0.0"));
        for missing in ["1.0.0", "1.10", "latest", ""] {
            assert_eq!(found("artifact.export", Some(missing)), None, "{missing}");
        }
        assert_eq!(found("math.old", None), None);
        assert_eq!(found("math.old", Some("1.0.0")), Some("1.0.0"));
        assert!(registry.resolve("math.old").is_none());
        let latest: Vec<String> =
            registry.latest().map(|tool| format!("{} {}", tool.spec.name, tool.spec.version)).collect();
        assert_eq!(latest, ["artifact.export 1.10.0", "math.a 1.0.0"]);
        assert_eq!(registry.all().count(), 5);
    }

    #[test]
    fn a_tool_is_reached_by_its_name_its_provider_safe_name_and_its_aliases() {
        let registry = Registry::build(vec![
            aliased(
                "workspace.read_lines",
                Alias {
                    arguments: vec![("file_path".to_owned(), "path".to_owned())],
                    ..Alias::plain("read_file")
                },
            ),
            packed("job.list", "action", "list"),
            packed("job.kill", "action", "kill"),
        ])
        .unwrap();
        let found = |name: &str, arguments: Value| {
            registry
                .resolve_call(name, &arguments)
                .map(|found| (found.tool.spec.name.as_str(), found.alias.is_some()))
        };
        assert_eq!(found("workspace.read_lines", json!({})), Some(("workspace.read_lines", false)));
        assert_eq!(found("workspace_read_lines", json!({})), Some(("workspace.read_lines", false)));
        assert_eq!(found("read_file", json!({})), Some(("workspace.read_lines", true)));
        assert_eq!(found("manage_jobs", json!({"action": "list"})), Some(("job.list", true)));
        assert_eq!(found("manage_jobs", json!({"action": "kill"})), Some(("job.kill", true)));
        for (name, arguments) in [
            ("manage_jobs", json!({"action": "start"})),
            ("manage_jobs", json!({})),
            ("Read_File", json!({})),
            ("workspace.read_lines ", json!({})),
            ("", json!({})),
        ] {
            assert_eq!(found(name, arguments), None, "{name:?}");
        }
        assert!(registry.resolve("manage_jobs").is_none());
        assert!(registry.is_packed("manage_jobs") && !registry.is_packed("read_file"));

        let resolved = registry.resolve("read_file").unwrap();
        let mut arguments = json!({"file_path": "a.txt"});
        resolved.alias.unwrap().rename(&mut arguments);
        let canonical = resolved.tool.arguments(arguments).unwrap();
        assert_eq!(canonical.as_str(), r#"{"count":1,"path":"a.txt"}"#);
    }

    #[test]
    fn arguments_are_completed_spelt_in_one_way_and_checked() {
        let spec = with(tool("math.a"), |spec| {
            spec.schema_codes =
                vec![code("/path", "maxLength", "tool.invalid_arguments.expression_too_long")];
        });
        let registry = Registry::build(vec![spec]).unwrap();
        let tool = registry.get("math.a", None).unwrap();
        let given = |text: &str| tool.arguments(crate::canonical::parse_strict(text).unwrap());
        assert_eq!(given(r#"{"path":"a","count":20e-1}"#).unwrap().as_str(), r#"{"count":2,"path":"a"}"#);
        assert_eq!(given(r#"{"path":"a"}"#), given(r#"{"count":1.0,"path":"a"}"#));
        for (text, code) in [
            (r#"{"path":"123456789"}"#, "tool.invalid_arguments.expression_too_long"),
            (r#"{"path":"a","count":1.5}"#, "tool.invalid_arguments.schema"),
            (r#"{"path":"a","count":-0.0}"#, "tool.invalid_arguments.schema"),
            (r#"{"count":1}"#, "tool.invalid_arguments.schema"),
            ("[]", "tool.invalid_arguments.schema"),
            ("null", "tool.invalid_arguments.schema"),
        ] {
            let fault = given(text).unwrap_err();
            assert_eq!(tool.code_for(&fault), code, "{text}");
        }
    }

    #[test]
    fn a_result_is_held_to_what_is_declared() {
        let registry =
            Registry::build(vec![tool("math.a"), with(tool("math.b"), |spec| spec.output_schema = None)])
                .unwrap();
        let [declared, free] = ["math.a", "math.b"].map(|name| registry.get(name, None).unwrap());
        assert_eq!(declared.check_output(&json!({"n": 1})), Ok(()));
        assert!(declared.check_output(&json!({"n": "1"})).is_err());
        assert_eq!(free.check_output(&json!({"anything": 1})), Ok(()));
    }

    #[test]
    fn compiling_all_finds_what_the_walk_cannot_see() {
        let spec =
            with(tool("math.a"), |spec| spec.input_schema["properties"]["path"]["pattern"] = json!("("));
        let registry = Registry::build(vec![spec]).unwrap();
        assert!(matches!(registry.compile_all(), Err(Refusal::Schema { side: SchemaSide::Input, .. })));
        assert!(versions().compile_all().is_ok());
    }

    #[test]
    fn the_pin_is_of_the_whole_declaration() {
        let pin = |spec: ToolSpec| Registry::build(vec![spec]).unwrap().all().next().unwrap().pin;
        let one = pin(tool("math.a"));
        assert_eq!(one, pin(tool("math.a")));
        assert_ne!(one, pin(with(tool("math.a"), |spec| spec.description.push('!'))));
        assert_ne!(one, pin(with(tool("math.a"), |spec| spec.timeout_seconds += 1)));
    }
}
