import type { Duplex } from 'node:stream'

/** The types of SPDY/3.1 control frames that are used here. */
const frameTypes = { synStream: 1, synReply: 2, reset: 3, ping: 6, goAway: 7 } as const
const version = 3
const finFlag = 1
const headLength = 8
const maxFrame = 1 << 24
/** An empty stored block, at which decompressors deliver everything before it. */
const flush = Buffer.from([0, 0, 0, 0xff, 0xff])
/** The largest data frame that this side sends. */
const maxData = 64 * 1024

/** Receives the bytes that the peer sends on a stream. */
export interface SpdyReceiver {
  /** Must not change the bytes. */
  data(bytes: Buffer): void
  /** Called once, when no further bytes follow. */
  end(): void
}

/** A stream of a {@link SpdyConnection}. */
export interface SpdyStream {
  /** False means that the peer lags: wait for {@link SpdyConnection.drained}. */
  write(bytes: Uint8Array): boolean
  /** Ends the direction to the peer. */
  end(): void
}

/**
 * The client's end of a SPDY/3.1 connection, as kubelets and container runtimes speak it for exec and attach: streams without flow control or
 * priorities. Header blocks are sent as stored zlib blocks, which need no dictionary; those of the peer carry no information here.
 */
export class SpdyConnection {
  readonly #connection: Duplex
  readonly #streams = new Map<number, SpdyReceiver>()
  #next = 1
  #compressing = false
  #pending: Buffer = Buffer.alloc(0)

  /** `closed` is called once, after all streams have ended. */
  constructor(connection: Duplex, closed: () => void) {
    this.#connection = connection
    connection.on('data', (chunk: Buffer) => {
      try {
        this.#receive(chunk)
      } catch {
        connection.destroy()
      }
    })
    const end = (): void => {
      for (const id of [...this.#streams.keys()]) this.#end(id)
    }
    connection.once('end', end)
    connection.once('error', () => connection.destroy())
    connection.once('close', () => {
      end()
      closed()
    })
  }

  /** Opens a stream with these headers, whose names are in lower case. */
  open(headers: Readonly<Record<string, string>>, receiver: SpdyReceiver): SpdyStream {
    const id = this.#next
    this.#next += 2
    this.#streams.set(id, receiver)
    const head = Buffer.alloc(10)
    head.writeUInt32BE(id, 0)
    this.#connection.write(controlFrame(frameTypes.synStream, 0, Buffer.concat([head, this.#headerBlock(headers)])))
    let ended = false
    return {
      write: (bytes) => {
        let flowing = true
        for (let at = 0; at < bytes.length; at += maxData) {
          flowing = this.#connection.write(dataFrame(id, 0, bytes.subarray(at, at + maxData)))
        }
        return flowing
      },
      end: () => {
        if (ended || this.#connection.destroyed) return
        ended = true
        this.#connection.write(dataFrame(id, finFlag, Buffer.alloc(0)))
      },
    }
  }

  /** Calls back when the peer has taken all bytes. */
  drained(callback: () => void): void {
    this.#connection.once('drain', callback)
  }

  /** Stops and resumes the delivery of bytes on all streams. */
  pause(): void {
    this.#connection.pause()
  }

  resume(): void {
    this.#connection.resume()
  }

  close(): void {
    this.#connection.destroy()
  }

  #headerBlock(headers: Readonly<Record<string, string>>): Buffer {
    const parts: Buffer[] = [uint32(Object.keys(headers).length)]
    for (const [name, value] of Object.entries(headers)) {
      for (const text of [name, value]) parts.push(uint32(Buffer.byteLength(text)), Buffer.from(text))
    }
    const block = Buffer.concat(parts)
    const stored = Buffer.alloc(5)
    stored.writeUInt16LE(block.length, 1)
    stored.writeUInt16LE(~block.length & 0xffff, 3)
    // All header blocks of a connection are one zlib stream, whose header comes first.
    const start = this.#compressing ? [] : [Buffer.from([0x78, 0x01])]
    this.#compressing = true
    return Buffer.concat([...start, stored, block, flush])
  }

  #receive(chunk: Buffer): void {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk])
    while (this.#pending.length >= headLength) {
      const length = this.#pending.readUInt32BE(4) & (maxFrame - 1)
      if (this.#pending.length < headLength + length) return
      const first = this.#pending.readUInt32BE(0)
      const flags = this.#pending[4]!
      const payload = this.#pending.subarray(headLength, headLength + length)
      this.#pending = this.#pending.subarray(headLength + length)
      if (first >>> 31 === 0) this.#data(first, payload, flags)
      else this.#control(first & 0xffff, payload, flags)
    }
  }

  #data(id: number, payload: Buffer, flags: number): void {
    if (payload.length > 0) this.#streams.get(id)?.data(payload)
    if (flags & finFlag) this.#end(id)
  }

  #control(type: number, payload: Buffer, flags: number): void {
    if (type === frameTypes.ping) {
      // The peer's pings have even identifiers; odd ones would answer pings of this side.
      if (payload.readUInt32BE(0) % 2 === 0) this.#connection.write(controlFrame(frameTypes.ping, 0, payload))
    } else if (type === frameTypes.reset) this.#end(payload.readUInt32BE(0))
    else if (type === frameTypes.synReply && flags & finFlag) this.#end(payload.readUInt32BE(0))
    else if (type === frameTypes.goAway) this.#connection.end()
  }

  #end(id: number): void {
    const receiver = this.#streams.get(id)
    this.#streams.delete(id)
    receiver?.end()
  }
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

function controlFrame(type: number, flags: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(headLength)
  head.writeUInt16BE(0x8000 | version, 0)
  head.writeUInt16BE(type, 2)
  head.writeUInt32BE(payload.length, 4)
  head[4] = flags
  return Buffer.concat([head, payload])
}

function dataFrame(stream: number, flags: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(headLength)
  head.writeUInt32BE(stream, 0)
  head.writeUInt32BE(payload.length, 4)
  head[4] = flags
  return Buffer.concat([head, payload])
}
