// A gRPC server over HTTP/2 whose responses the test determines: for versions of etcd that are not installed, and for
// scripted failures.
import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { ProtoMessage } from '@kubewright/base/protobuf'
import { FrameSplitter, frameHead, sealFrame } from '../etcd/grpc-frames.ts'

/** One call as the server sees it. */
export interface FakeCall {
  readonly method: string
  readonly stream: ServerHttp2Stream
  /** Sends a message. */
  send(message: ProtoMessage): void
  /** Ends the call with a status. */
  finish(status?: number, text?: string): void
}

export interface FakeEtcd extends AsyncDisposable {
  readonly url: string
  readonly sessions: ReadonlySet<ServerHttp2Session>
}

/** The header of every response. */
export const header = (revision: number): ProtoMessage =>
  new ProtoMessage().message(1, new ProtoMessage().integer(3, revision))

/** Starts a server that calls `handle` for each received message. */
export async function startFakeEtcd(handle: (call: FakeCall, message: Buffer) => void): Promise<FakeEtcd> {
  const sessions = new Set<ServerHttp2Session>()
  const server: Http2Server = createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('close', () => sessions.delete(session))
    session.on('error', () => undefined)
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined)
    let trailers: Record<string, string> = {}
    const respond = (): void => {
      if (stream.headersSent || stream.destroyed) return
      stream.on('wantTrailers', () => stream.sendTrailers(trailers))
      stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
    }
    const call: FakeCall = {
      method: String(headers[':path']).split('/').at(-1)!,
      stream,
      send(message) {
        respond()
        if (!stream.destroyed) stream.write(sealFrame(message.encode(frameHead)))
      },
      finish(status = 0, text = '') {
        trailers = { 'grpc-status': String(status), 'grpc-message': encodeURIComponent(text) }
        respond()
        stream.end()
      },
    }
    const splitter = new FrameSplitter((message) => handle(call, message))
    stream.on('data', (chunk: Buffer) => splitter.push(chunk))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sessions,
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
