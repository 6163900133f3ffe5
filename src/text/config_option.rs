//! The option of a proposed command that names the config.

/// The config of a command without `--config`.
const DEFAULT_CONFIG: &str = "goldgate.yaml";

/// Returns ` --config FILE` for a command that a person can run in the folder of this run; empty for the config that it reads anyway.
pub fn config_option(config: &str) -> String {
    match config {
        DEFAULT_CONFIG | "" => String::new(),
        path => format!(" --config {}", as_argument(path)),
    }
}

/// A text as one argument of a POSIX shell.
pub fn as_argument(text: &str) -> String {
    let is_plain = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    if is_plain {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::config_option;

    #[test]
    fn only_another_config_is_named() {
        assert_eq!(config_option("goldgate.yaml"), "");
        assert_eq!(
            config_option("services/a/goldgate.yaml"),
            " --config services/a/goldgate.yaml"
        );
        assert_eq!(
            config_option("it's mine/goldgate.yaml"),
            r" --config 'it'\''s mine/goldgate.yaml'"
        );
    }
}
