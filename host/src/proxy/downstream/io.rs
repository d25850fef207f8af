//! Reading and writing a client's stream: as much as the gate lets through, and no longer than its pace allows.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::gate::Gate;
use super::{Downstream, ROOM};

/// How the head of a switch of protocols begins, as Pingora writes it; that of an answer that is not the last
/// (100, 103); and that of any other. Upstreams' versions never get here.
const SWITCHES: &[u8] = b"HTTP/1.1 101";
const INTERIM: &[u8] = b"HTTP/1.1 1";
const ANSWER: &[u8] = b"HTTP/1.1 ";

impl AsyncRead for Downstream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        if this.gate == Gate::Shut {
            return this.poll_end(cx);
        }
        let start = buf.filled().len();
        if this.ahead.is_empty() {
            if Pin::new(&mut this.transport).poll_read(cx, buf)?.is_pending() {
                return this.pace.poll_silence(cx);
            }
        } else {
            let count = this.ahead.len().min(buf.remaining());
            buf.put_slice(this.ahead.get(..count).unwrap_or_default());
            this.ahead.advance(count);
        }
        this.pace.passed();
        let fresh = buf.filled().get(start..).unwrap_or_default();
        let own = this.gate.pass(fresh).map_err(|bad| Error::new(ErrorKind::InvalidData, bad))?;
        if own < fresh.len() {
            // The next request's, in front of what waits already.
            let mut next = BytesMut::from(fresh.get(own..).unwrap_or_default());
            next.extend_from_slice(&this.ahead);
            this.ahead = next;
            buf.set_filled(start + own);
        }
        Poll::Ready(Ok(()))
    }
}

impl Downstream {
    /// The request is whole: only the end of the connection is told. What comes meanwhile is kept.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if self.may_switch {
            let wait = self.connection.switch_wait();
            if let Poll::Ready(stalled) = self.pace.poll_switch(cx, wait) {
                return Poll::Ready(Err(stalled));
            }
            self.reader = Some(cx.waker().clone());
        } else if let Poll::Ready(Err(stalled)) = self.pace.poll_silence(cx) {
            return Poll::Ready(Err(stalled));
        }
        if !self.ahead.is_empty() {
            return Poll::Pending;
        }
        let mut piece = [const { MaybeUninit::uninit() }; ROOM];
        let mut piece = ReadBuf::uninit(&mut piece);
        ready!(Pin::new(&mut self.transport).poll_read(cx, &mut piece))?;
        if piece.filled().is_empty() {
            return self.pace.poll_farewell(cx).map(Ok);
        }
        self.ahead.extend_from_slice(piece.filled());
        Poll::Pending
    }

    /// Looks at what is sent while a switch of protocols is asked for.
    fn sent(&mut self, bytes: &[u8]) {
        if self.may_switch && bytes.starts_with(ANSWER) {
            let switches = bytes.starts_with(SWITCHES);
            if switches {
                self.gate = Gate::Open;
            }
            if switches || !bytes.starts_with(INTERIM) {
                self.may_switch = false;
                // The upstream has no time limit of its own then.
                self.pace.tunnel();
            }
            if let Some(reader) = self.reader.take() {
                reader.wake();
            }
        }
        self.pace.passed();
    }
}

impl AsyncWrite for Downstream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<Result<usize>> {
        let this = self.get_mut();
        match Pin::new(&mut this.transport).poll_write(cx, buf) {
            Poll::Ready(Ok(count)) => {
                this.sent(buf);
                Poll::Ready(Ok(count))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => this.pace.poll_write(cx),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        match Pin::new(&mut this.transport).poll_flush(cx) {
            Poll::Ready(done) => {
                this.pace.taken();
                Poll::Ready(done)
            }
            Poll::Pending => this.pace.poll_write(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let this = self.get_mut();
        match Pin::new(&mut this.transport).poll_shutdown(cx) {
            Poll::Ready(done) => Poll::Ready(done),
            Poll::Pending => this.pace.poll_write(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let this = self.get_mut();
        match Pin::new(&mut this.transport).poll_write_vectored(cx, bufs) {
            Poll::Ready(Ok(count)) => {
                this.sent(bufs.first().map(|first| &**first).unwrap_or_default());
                Poll::Ready(Ok(count))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => this.pace.poll_write(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.transport.is_write_vectored()
    }
}
