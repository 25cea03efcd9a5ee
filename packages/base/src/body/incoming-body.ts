import { defineBudget } from '../budget.ts'
import type { BodyAccount } from './body-budget.ts'
import { ReceivedBody } from './received-body.ts'

/** A stream of pieces, as Node's `IncomingMessage`. */
export interface BodyStream {
  on(event: 'data', listener: (piece: Uint8Array) => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'end' | 'close', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
  destroy(): unknown
}

/**
 * Why a body was not read: it is longer than the limit, the client ended it early or sent it in too many small pieces, or the
 * server holds too many bodies.
 */
export type BodyRefusal = 'too large' | 'incomplete' | 'too many pieces' | 'over budget'

/** Bytes that wait in memory for a reader. The server stops reading from the connection then. */
const unreadBytes = defineBudget(256 * 1024, {
  group: 'server',
  what: 'bytes of a request body that wait unread, per request',
  unit: 'bytes',
  answer: 'flow control: the server stops reading',
  kubernetes: 'yes',
})
/** A body of more pieces than this must have `averagePiece` bytes per piece. */
const freePieces = defineBudget(4096, {
  group: 'server',
  what: 'pieces of a body, HTTP/1.1',
  shown: '{}; beyond that, 16 bytes per piece on average',
  answer: 'the connection is closed',
  kubernetes: 'no',
})
const averagePiece = 16

/**
 * The body of a request, from the first piece on: pieces are copied together as they arrive, so that a stream never holds them one
 * by one. A client that sends very small pieces is disconnected.
 */
export class IncomingBody {
  readonly #stream: BodyStream
  readonly #account: BodyAccount
  readonly #received = new ReceivedBody()
  #charged = 0
  #pieces = 0
  #bytes = 0
  #refusal: BodyRefusal | undefined
  #isComplete = false
  #isPaused = false
  #isDone = false
  #reader: { readonly limit: number; readonly resolve: (body: Uint8Array | BodyRefusal) => void } | undefined

  constructor(stream: BodyStream, account: BodyAccount) {
    this.#stream = stream
    this.#account = account
    stream.on('data', (piece) => this.#receive(piece))
    stream.on('error', () => this.#refuse('incomplete'))
    stream.once('end', () => {
      this.#isComplete = true
      this.#settle()
    })
    stream.once('close', () => {
      if (!this.#isComplete) this.#refuse('incomplete')
    })
  }

  /** Reads the whole body, up to a number of bytes. Must be called at most once. Never rejects. */
  read(limit: number): Promise<Uint8Array | BodyRefusal> {
    return new Promise((resolve) => {
      this.#reader = { limit, resolve }
      if (this.#bytes > limit) this.#refuse('too large')
      this.#settle()
      this.#resume()
    })
  }

  /** Ends the work on the request: drops the bytes, and the rest of a body that is still arriving. */
  done(): void {
    if (this.#isDone) return
    this.#isDone = true
    this.#drop()
    this.#resume()
  }

  #receive(piece: Uint8Array): void {
    this.#bytes += piece.length
    this.#pieces++
    if (this.#pieces > freePieces && this.#bytes < this.#pieces * averagePiece) {
      this.#refuse('too many pieces')
      this.#stream.destroy()
      return
    }
    // The rest of a refused body is read, so that the client reads the response.
    if (this.#isDone || this.#refusal !== undefined) return
    if (this.#reader !== undefined && this.#bytes > this.#reader.limit) this.#refuse('too large')
    else if (!this.#account.charge(piece.length)) this.#refuse('over budget')
    else this.#keep(piece)
  }

  #keep(piece: Uint8Array): void {
    this.#charged += piece.length
    this.#received.append(piece)
    if (this.#reader === undefined && this.#received.length >= unreadBytes) {
      this.#isPaused = true
      this.#stream.pause()
    }
  }

  #refuse(refusal: BodyRefusal): void {
    if (this.#isComplete || this.#refusal !== undefined) return
    this.#refusal = refusal
    this.#drop()
    this.#settle()
    this.#resume()
  }

  #settle(): void {
    if (this.#reader === undefined) return
    if (this.#refusal !== undefined) this.#reader.resolve(this.#refusal)
    else if (this.#isComplete) this.#reader.resolve(this.#received.take())
  }

  #drop(): void {
    this.#received.clear()
    this.#account.release(this.#charged)
    this.#charged = 0
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#stream.resume()
  }
}
