//! The model services that Mast knows by name: which protocol each speaks, where it usually is, and
//! which key it wants. A name here is what `--provider`, `config use` and `config key` take.

/// How a service is spoken to: a name in the provider crate's list.
pub(crate) type Protocol = &'static str;

/// One service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Preset {
    /// What the person calls it.
    pub(crate) name: &'static str,
    /// How it is spoken to.
    pub(crate) protocol: Protocol,
    /// Where it usually is; none where the protocol knows, or where there is nothing to reach.
    pub(crate) base_url: Option<&'static str>,
    /// The variable that usually holds its key.
    pub(crate) key_variable: Option<&'static str>,
    /// Whether nothing works without a key.
    pub(crate) needs_key: bool,
    /// The model that answers when none is named; none where one must be named.
    pub(crate) model: Option<&'static str>,
    /// Where it listens on this machine, if it is a local server.
    pub(crate) local_port: Option<u16>,
}

/// A service on this machine.
const fn local(name: &'static str, base_url: &'static str, port: u16) -> Preset {
    Preset {
        name,
        protocol: "openai_chat",
        base_url: Some(base_url),
        key_variable: None,
        needs_key: false,
        model: None,
        local_port: Some(port),
    }
}

/// Every service, in the order in which they are listed.
pub(crate) const PRESETS: &[Preset] = &[
    Preset {
        name: "offline",
        protocol: "offline",
        base_url: None,
        key_variable: None,
        needs_key: false,
        model: None,
        local_port: None,
    },
    Preset {
        name: "scripted",
        protocol: "scripted",
        base_url: None,
        key_variable: None,
        needs_key: false,
        model: None,
        local_port: None,
    },
    Preset {
        name: "openai",
        protocol: "openai_chat",
        base_url: Some("https://api.openai.com/v1"),
        key_variable: Some("OPENAI_API_KEY"),
        needs_key: true,
        model: Some("gpt-5-mini"),
        local_port: None,
    },
    Preset {
        name: "anthropic",
        protocol: "anthropic",
        base_url: Some("https://api.anthropic.com"),
        key_variable: Some("ANTHROPIC_API_KEY"),
        needs_key: true,
        model: Some("claude-sonnet-4-5"),
        local_port: None,
    },
    Preset {
        name: "openrouter",
        protocol: "openai_chat",
        base_url: Some("https://openrouter.ai/api/v1"),
        key_variable: Some("OPENROUTER_API_KEY"),
        needs_key: true,
        model: None,
        local_port: None,
    },
    local("ollama", "http://127.0.0.1:11434/v1", 11_434),
    local("lmstudio", "http://127.0.0.1:1234/v1", 1_234),
    local("llamacpp", "http://127.0.0.1:8080/v1", 8_080),
    local("vllm", "http://127.0.0.1:8000/v1", 8_000),
];

/// The service with this name; the name of a protocol that has only one usual service reaches it too.
pub(crate) fn preset(name: &str) -> Option<&'static Preset> {
    let name = if name == "openai_chat" { "openai" } else { name };
    PRESETS.iter().find(|preset| preset.name == name)
}

/// The names of all services.
pub(crate) fn names() -> Vec<&'static str> {
    PRESETS.iter().map(|preset| preset.name).collect()
}
