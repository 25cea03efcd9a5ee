import { CaughtError } from '@kubewright/base'

/** Types of frames (RFC 9113, section 6). Other types are ignored. */
export const FrameType = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

/** Flags of frames. `ack` is the same bit as `endStream`; which one applies depends on the type. */
export const Flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const

/** Error codes (RFC 9113, section 7). */
export const ErrorCode = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const

/** Identifiers of settings (RFC 9113, section 6.5.2). */
export const Setting = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const

/** The bytes that start a connection of HTTP/2. */
export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

/** The length of the header of a frame. */
export const frameHeaderBytes = 9
/** The longest payload that the server accepts, which is HTTP/2's default. */
export const maxFramePayload: number = 16 * 1024
/** The windows of a connection and of its streams before any setting. */
export const defaultWindow = 65_535
/** The largest window. */
export const maxWindow: number = 2 ** 31 - 1

/** A violation of the protocol that ends the connection with a code. */
export class ProtocolError extends CaughtError {
  override readonly name = 'ProtocolError'
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** Returns the header of a frame with room for its payload. */
export function frame(type: number, flags: number, stream: number, payloadBytes: number, room: number): Buffer {
  const bytes = Buffer.allocUnsafe(frameHeaderBytes + room)
  writeFrameHeader(bytes, 0, type, flags, stream, payloadBytes)
  return bytes
}

/** Writes the header of a frame at a position. */
export function writeFrameHeader(
  bytes: Buffer,
  at: number,
  type: number,
  flags: number,
  stream: number,
  payloadBytes: number,
): void {
  bytes[at] = payloadBytes >>> 16
  bytes[at + 1] = (payloadBytes >>> 8) & 255
  bytes[at + 2] = payloadBytes & 255
  bytes[at + 3] = type
  bytes[at + 4] = flags
  bytes[at + 5] = stream >>> 24
  bytes[at + 6] = (stream >>> 16) & 255
  bytes[at + 7] = (stream >>> 8) & 255
  bytes[at + 8] = stream & 255
}

/** A frame whose payload is one or two 32-bit numbers. */
export function numberFrame(type: number, stream: number, ...numbers: readonly number[]): Buffer {
  const bytes = frame(type, 0, stream, numbers.length * 4, numbers.length * 4)
  for (const [i, number] of numbers.entries()) bytes.writeUInt32BE(number, frameHeaderBytes + i * 4)
  return bytes
}

/** A SETTINGS frame. */
export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const bytes = frame(FrameType.settings, 0, 0, settings.length * 6, settings.length * 6)
  settings.forEach(([id, value], i) => {
    bytes.writeUInt16BE(id, frameHeaderBytes + i * 6)
    bytes.writeUInt32BE(value, frameHeaderBytes + i * 6 + 2)
  })
  return bytes
}
