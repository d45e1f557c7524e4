//! A server on the loopback interface that gives prepared answers, one a connection, and keeps what
//! it was asked.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// What is done after the bytes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Then {
    /// The connection is closed: the end of the body.
    Close,
    /// Nothing more comes until the other side goes away.
    Hang,
    /// The connection is closed, though more was promised.
    BreakOff,
}

/// One prepared answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    then: Then,
}

impl Answer {
    pub(crate) fn stream(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/event-stream; charset=utf-8", body)
    }

    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn new(status: u16, kind: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("content-type", kind.to_owned())];
        Self { status, headers, body: body.into(), then: Then::Close }
    }

    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    pub(crate) fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    fn head(&self) -> String {
        let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", self.status);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if self.then == Then::BreakOff {
            head.push_str(&format!("content-length: {}\r\n", self.body.len() + 100));
        }
        head + "\r\n"
    }
}

/// What was asked.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) head: String,
    pub(crate) body: Value,
}

/// The server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    left: tokio::sync::mpsc::UnboundedReceiver<()>,
}

impl Server {
    /// Starts a server that gives these answers in turn, and the last one again after that.
    pub(crate) async fn start(answers: Vec<Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (gone, left) = tokio::sync::mpsc::unbounded_channel();
        let kept = Arc::clone(&asked);
        tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                let place = kept.lock().unwrap().len().min(answers.len() - 1);
                serve(socket, &answers[place], &kept, &gone).await;
            }
        });
        Self { url, asked, left }
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// Waits until a client went away from an answer that hangs.
    pub(crate) async fn client_left(&mut self) {
        self.left.recv().await.unwrap();
    }
}

async fn serve(
    mut socket: TcpStream,
    answer: &Answer,
    asked: &Mutex<Vec<Asked>>,
    gone: &tokio::sync::mpsc::UnboundedSender<()>,
) {
    let request = read_request(&mut socket).await;
    asked.lock().unwrap().push(request);
    // A client that has heard enough goes away; that is no failure of the server.
    let sent = socket.write_all(answer.head().as_bytes()).await.is_ok()
        && socket.write_all(&answer.body).await.is_ok()
        && socket.flush().await.is_ok();
    if sent && answer.then == Then::Hang {
        let end = socket.read(&mut [0; 1]).await;
        assert!(!matches!(end, Ok(1..)), "a client says nothing more");
        // A test that does not ask has let go of the other end.
        gone.send(()).ok();
    }
}

async fn read_request(socket: &mut TcpStream) -> Asked {
    let mut bytes = Vec::new();
    let head_end = loop {
        let mut chunk = [0; 4_096];
        let n = socket.read(&mut chunk).await.unwrap();
        assert!(n > 0, "a request has an end");
        bytes.extend_from_slice(&chunk[..n]);
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at + 4;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).unwrap();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = bytes.split_off(head_end);
    let missing = length.parse::<usize>().unwrap() - body.len();
    let mut rest = vec![0; missing];
    socket.read_exact(&mut rest).await.unwrap();
    body.extend(rest);
    Asked { head, body: serde_json::from_slice(&body).unwrap() }
}
