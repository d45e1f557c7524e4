//! A wire to the test server that can be cut: first the answers stay away, so that what was asked is done
//! and nobody is told, then both ends are dropped; until it is mended nobody gets through.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// How long the answers stay away before the wire breaks, and how long it then is broken.
const DEAF: Duration = Duration::from_millis(30);
const BROKEN: Duration = Duration::from_millis(200);

/// How a wire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Is {
    Whole,
    Deaf,
    Cut,
}

/// The wire.
#[derive(Debug)]
pub(crate) struct Wire {
    /// The address of the server at the other end.
    pub(crate) address: String,
    state: watch::Sender<Is>,
    _folder: tempfile::TempDir,
}

impl Wire {
    /// A wire to this server, which is reached by a socket in a folder.
    pub(crate) fn to(server: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let there = server.split("host=").nth(1).unwrap().split('&').next().unwrap().to_owned();
        let address = server.replace(&there, folder.path().to_str().unwrap());
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let (state, told) = watch::channel(Is::Whole);
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                if *told.borrow() == Is::Whole {
                    let far = UnixStream::connect(format!("{there}/.s.PGSQL.5432")).await.unwrap();
                    tokio::spawn(carry(near, far, told.clone()));
                }
            }
        });
        Self { address, state, _folder: folder }
    }

    /// Cuts it, and mends it after a while.
    pub(crate) async fn cut(&self) {
        for (state, pause) in [(Is::Deaf, DEAF), (Is::Cut, BROKEN), (Is::Whole, Duration::ZERO)] {
            self.state.send(state).unwrap();
            let mut passed = tokio::time::interval(pause.max(Duration::from_millis(1)));
            passed.tick().await;
            passed.tick().await;
        }
    }
}

/// Carries bytes both ways until an end closes, or the wire is cut.
async fn carry(near: UnixStream, far: UnixStream, mut told: watch::Receiver<Is>) {
    let now = told.clone();
    let ((mut asked, mut answers), (mut given, mut asks)) = (near.into_split(), far.into_split());
    let (mut question, mut answer) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        tokio::select! {
            () = async { drop(told.wait_for(|state| *state == Is::Cut).await) } => return,
            read = asked.read(&mut question) => match read {
                Ok(n_bytes) if n_bytes > 0 && asks.write_all(&question[..n_bytes]).await.is_ok() => {}
                _ => return,
            },
            read = given.read(&mut answer) => match read {
                Ok(n_bytes) if n_bytes > 0 => {
                    let is_deaf = *now.borrow() == Is::Deaf;
                    if !is_deaf && answers.write_all(&answer[..n_bytes]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
        }
    }
}
