import type { WireCodecs } from './message-codecs.ts'
import type { MessageTypes } from './message-type.ts'

/** What encoders and decoders of bodies need to know of a release. */
export interface ProtobufTypes {
  readonly wire: WireCodecs
  readonly messages: MessageTypes
}
