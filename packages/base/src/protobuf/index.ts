// A separate entry point: only the API server and the etcd client speak protocol buffers.
export { ProtoMessage } from './proto-message.ts'
export { ReverseWriter } from './reverse-writer.ts'
export { ProtobufError, WireReader } from './wire-reader.ts'
