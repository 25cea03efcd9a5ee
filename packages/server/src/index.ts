export {
  type ApiServer,
  type ApiServerOptions,
  createApiServer,
  type PathHandler,
  type ServerParts,
} from './api-server.ts'
export type { ApiHandler, ApiRequest, ApiResponse, Peer, Sink } from './http/api-request.ts'
export { type Listener, type ListenOptions, listen } from './http/listener.ts'
