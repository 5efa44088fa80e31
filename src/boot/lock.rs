//! One server per data folder. SO_REUSEPORT would let a second server of the same user share the port
//! in silence, and an embedded database has one writer process; so the folder is locked first.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// Holds the lock while it lives.
#[derive(Debug)]
pub struct DataLock {
    _file: File,
}

/// Makes the folder (mode 0700) and locks it.
///
/// # Errors
/// The folder cannot be made or written, or another server holds it; the text says which and what to do.
pub fn lock(folder: &Path) -> Result<DataLock, String> {
    make(folder)?;
    let path = folder.join("server.lock");
    let file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(&path)
        .map_err(|error| format!("{}: {error}. Make data_dir writable for this user", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(DataLock { _file: file }),
        Err(TryLockError::WouldBlock) => Err(format!(
            "another server runs on {}. Stop it, or give this one its own data_dir and ports",
            folder.display()
        )),
        Err(TryLockError::Error(error)) => Err(format!("{}: {error}", path.display())),
    }
}

/// Makes the folder, for this user only.
///
/// # Errors
/// The folder cannot be made, with the remedy.
pub fn make(folder: &Path) -> Result<(), String> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory => {
            format!("data_dir {}: something else than a folder is there. Set data_dir to a folder", folder.display())
        }
        _ => {
            format!("data_dir {}: {error}. Make it writable for this user, or set data_dir elsewhere", folder.display())
        }
    })
}
