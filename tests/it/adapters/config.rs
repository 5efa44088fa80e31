//! `contract` section 3: everything wrong is told at once, with key, place, fault and allowed form.

use std::fs;
use std::path::PathBuf;

use doorward::config::network::Network;
use doorward::config::{Config, ConfigError, Format, Listen, LoadOptions, reference};
use tempfile::TempDir;

struct Setting {
    folder: TempDir,
    options: LoadOptions,
}

fn setting(file: Option<&str>, env: &[(&str, &str)]) -> Setting {
    let folder = tempfile::tempdir().unwrap();
    if let Some(text) = file {
        fs::write(folder.path().join("doorward.toml"), text).unwrap();
    }
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = LoadOptions { path: None, dev: false, env, folder: folder.path().to_owned() };
    Setting { folder, options }
}

fn load(file: Option<&str>, env: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::load(&setting(file, env).options)
}

fn faults(file: Option<&str>, env: &[(&str, &str)]) -> Vec<(String, String)> {
    let error = load(file, env).unwrap_err();
    error.problems.iter().map(|problem| (problem.key.clone(), problem.fault.clone())).collect()
}

#[test]
fn the_defaults_are_those_of_the_contract() {
    let config = load(None, &[]).unwrap();
    assert_eq!(config.server.public_url.as_str(), "http://localhost:8080");
    assert_eq!(config.server.listen, [Listen::Tcp("127.0.0.1:8080".parse().unwrap())]);
    assert_eq!(config.server.management.to_string(), "127.0.0.1:9000");
    assert_eq!(config.server.data_dir, PathBuf::from("./data"));
    assert_eq!(config.database.url.expose(), "sqlite://./data/doorward.db");
    let password = &config.password;
    assert_eq!((password.memory_kib, password.iterations, password.parallelism), (7168, 5, 1));
    assert_eq!((password.workers, password.queue, password.deadline.as_millis()), (None, None, 1000));
    assert_eq!(config.log.format, Format::Json);
}

#[test]
fn a_development_server_may_call_this_machine_and_no_other_may_unasked() {
    assert!(load(None, &[]).unwrap().outbound.allow_networks.is_empty());
    let mut setting = setting(None, &[]);
    setting.options.dev = true;
    let allowed = Config::load(&setting.options).unwrap().outbound.allow_networks;
    let contains = |address: &str| allowed.iter().any(|network| network.contains(address.parse().unwrap()));
    assert!(contains("127.0.0.1") && contains("::1") && !contains("10.0.0.1") && !contains("169.254.169.254"));
}

#[test]
fn the_environment_wins_over_the_file() {
    let file = "public_url = \"https://id.example.com/sso/\"\nlisten = [\"unix:/run/d.sock\", \"[::1]:80\"]\n\
                [password]\nworkers = 3\nargon2.iterations = 2\n[database.pool]\nmax = 0x10\n";
    let env = [("DOORWARD_PASSWORD__WORKERS", "auto"), ("DOORWARD_TRUSTED_PROXIES", "10.0.0.0/8, ::1"), ("PATH", "/")];
    let config = load(Some(file), &env).unwrap();
    assert_eq!(config.server.public_url.as_str(), "https://id.example.com/sso");
    assert_eq!(config.server.public_url.path(), "/sso");
    assert_eq!(config.server.listen.len(), 2);
    assert_eq!((config.password.workers, config.password.iterations, config.database.pool_max), (None, 2, 16));
    assert!(config.server.trusted_proxies[0].contains("::ffff:10.1.2.3".parse().unwrap()));
    assert!(!config.server.trusted_proxies[1].contains("::2".parse().unwrap()));
}

#[test]
fn everything_wrong_is_told_at_once() {
    let file = "public_url = \"http://id.example.com\"\n\n[password]\nworker = 2\nqueue = \"many\"\n[limits]\nbody_kib = \"64\"\n";
    let set = setting(Some(file), &[("DOORWARD_LOG__LEVEL", "loud"), ("DOORWARD_REDIS__URL", "redis://u:hidden@h")]);
    let text = Config::load(&set.options).unwrap_err().to_string();
    let path = set.folder.path().join("doorward.toml");
    for line in [
        "6 settings are wrong:".to_owned(),
        format!("public_url ({} line 1): \"http://id.example.com\" is not https", path.display()),
        format!("password.worker ({} line 4): is unknown; did you mean password.workers?", path.display()),
        "\"many\" is not a whole number. Allowed: 1 to 10000, or `auto`".to_owned(),
        "line 7): is a text, not a whole number. Allowed: 8 to 1024".to_owned(),
        "log.level (DOORWARD_LOG__LEVEL): \"loud\" is not a level. Allowed: `error`".to_owned(),
        "redis.url (DOORWARD_REDIS__URL): is not built in this version".to_owned(),
    ] {
        assert!(text.contains(&line), "{line}\n---\n{text}");
    }
    assert!(!text.contains("hidden"), "{text}");
}

#[test]
fn unknown_variables_and_bad_files_stop_the_start() {
    assert_eq!(faults(None, &[("DOORWARD_PUBLIC_ULR", "x")])[0].1, "is unknown; did you mean public_url?");
    assert!(faults(None, &[("DOORWARD_PORT_8080_TCP", "x")])[0].1.contains("enableServiceLinks"));
    assert_eq!(faults(None, &[("DOORWARD_public_url", "http://localhost")]).len(), 1);
    assert_eq!(faults(None, &[("DOORWARD_PUBLIC_URL", "")])[0].1, "is empty; unset it instead");
    assert!(load(None, &[("DOORWARD_SECRET_WEB", "x")]).is_ok());
    assert!(faults(None, &[("DOORWARD_CONFIG", "/nowhere.toml")])[0].1.starts_with("cannot be read"));
    let broken = load(Some("master_key = \"hidden\nlisten = 3"), &[]).unwrap_err().to_string();
    assert!(broken.contains("line 1") && !broken.contains("hidden"), "{broken}");
}

#[test]
fn secrets_come_from_files_and_are_never_shown() {
    let set = setting(None, &[]);
    let path = set.folder.path().join("key");
    fs::write(&path, "s3cret-key\n").unwrap();
    let file = path.to_str().unwrap();
    let config = load(None, &[("DOORWARD_MASTER_KEY_FILE", file)]).unwrap();
    assert_eq!(config.server.master_key.as_ref().unwrap().expose(), "s3cret-key");
    assert!(!format!("{config:?}").contains("s3cret"));
    let twice = faults(None, &[("DOORWARD_MASTER_KEY_FILE", file), ("DOORWARD_MASTER_KEY", "x")]);
    assert_eq!(twice, [("master_key".to_owned(), "is given twice, also by DOORWARD_MASTER_KEY".to_owned())]);
    assert!(faults(None, &[("DOORWARD_MASTER_KEY_FILE", "/nowhere")])[0].1.starts_with("cannot be read"));
    assert_eq!(faults(None, &[("DOORWARD_LISTEN_FILE", file)])[0].0, "listen_file");
    let url = "mysql://root:hidden@db/x";
    let error = load(None, &[("DOORWARD_DATABASE__URL", url)]).unwrap_err().to_string();
    assert!(error.contains("begins neither") && !error.contains("hidden"), "{error}");
}

#[test]
fn a_secrets_file_is_its_owners_alone() {
    let set = setting(None, &[]);
    let path = set.folder.path().join("key");
    fs::write(&path, "s3cret-key\n").unwrap();
    let variables = [("DOORWARD_MASTER_KEY_FILE", path.to_str().unwrap())];
    let with = |mode| fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
    for mode in [0o600, 0o400, 0o440, 0o640] {
        with(mode);
        assert_eq!(load(None, &variables).unwrap().remarks, [], "{mode:o}");
    }
    for mode in [0o644, 0o444] {
        with(mode);
        let config = load(None, &variables).unwrap();
        assert_eq!(config.server.master_key.as_ref().unwrap().expose(), "s3cret-key");
        let [remark] = &config.remarks[..] else { panic!("{:?}", config.remarks) };
        let told = remark.to_string();
        for word in ["master_key", "DOORWARD_MASTER_KEY_FILE", &format!("mode {mode:03o}"), "chmod 600"] {
            assert!(told.contains(word) && !told.contains("s3cret"), "{told}");
        }
    }
    for mode in [0o620, 0o602, 0o666] {
        with(mode);
        let error = load(None, &variables).unwrap_err().to_string();
        assert!(error.contains("may be written by others") && error.contains("chmod 600"), "{error}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn postgres_needs_the_master_key_given() {
    let url = ("DOORWARD_DATABASE__URL", "postgres://u:p@db/doorward");
    assert_eq!(faults(None, &[url])[0].0, "master_key");
    assert!(load(None, &[url, ("DOORWARD_MASTER_KEY", "x")]).is_ok());
    for bad in ["postgres://db", "postgres:///", "sqlite://", "sqlite://:memory:", "doorward.db"] {
        assert_eq!(faults(None, &[("DOORWARD_DATABASE__URL", bad)])[0].0, "database.url", "{bad}");
    }
}

#[test]
fn public_urls_have_one_spelling() {
    for (given, kept) in [
        ("https://ID.Example.com:443/", "https://id.example.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:1/a/b/", "http://[::1]:1/a/b"),
        ("http://shop.localhost", "http://shop.localhost"),
    ] {
        let config = load(None, &[("DOORWARD_PUBLIC_URL", given)]).unwrap();
        assert_eq!(config.server.public_url.as_str(), kept);
    }
    for bad in [
        "https://id.example.com//",
        "https://id.example.com/a//b",
        "https://id.example.com?x",
        "https://id.example.com#x",
        "https://u@id.example.com",
        "http://localhost.example.com",
        "ftp://localhost",
        "id.example.com",
        "https://id.example.com/a%2fb",
    ] {
        assert_eq!(faults(None, &[("DOORWARD_PUBLIC_URL", bad)])[0].0, "public_url", "{bad}");
    }
}

#[test]
fn dev_stays_on_this_machine() {
    let mut set =
        setting(None, &[("DOORWARD_LISTEN", "0.0.0.0:81,[::]:82,unix:/x"), ("DOORWARD_TRUSTED_PROXIES", "::/0")]);
    set.options.dev = true;
    let config = Config::load(&set.options).unwrap();
    let listen: Vec<String> = config.server.listen.iter().map(ToString::to_string).collect();
    assert_eq!(listen, ["127.0.0.1:81", "[::1]:82"]);
    assert!(config.server.trusted_proxies.is_empty());
    assert_eq!(config.server.data_dir, PathBuf::from("./data/dev"));
    assert_eq!(config.log.format, Format::Text);
    set.options.env = vec![("DOORWARD_PUBLIC_URL".to_owned(), "https://id.example.com".to_owned())];
    assert!(Config::load(&set.options).unwrap_err().to_string().contains("start without --dev"));
}

#[test]
fn listeners_and_networks_are_checked() {
    for bad in ["localhost:80", "8080", "unix:relative", "127.0.0.1", "127.0.0.1:1,127.0.0.1:1", ""] {
        assert_eq!(faults(None, &[("DOORWARD_LISTEN", bad)])[0].0, "listen", "{bad}");
    }
    assert_eq!(faults(None, &[("DOORWARD_MANAGEMENT__LISTEN", "127.0.0.1:8080")])[0].0, "management.listen");
    for bad in ["10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/x", "10.0.0.0/", "host"] {
        assert!(bad.parse::<Network>().is_err(), "{bad}");
    }
    assert!("0.0.0.0/0".parse::<Network>().unwrap().contains("8.8.8.8".parse().unwrap()));
    assert!(!"0.0.0.0/0".parse::<Network>().unwrap().contains("2001:db8::1".parse().unwrap()));
}

#[test]
fn the_reference_names_every_setting() {
    let text = reference();
    for name in ["`public_url`", "`DOORWARD_DATABASE__POOL__MAX`", "`smtp.from`", "`limits.connections`"] {
        assert!(text.contains(name), "{name}");
    }
}
