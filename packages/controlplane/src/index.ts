export { chooseControllers, controllerNames } from './components/choose-controllers.ts'
export type { RunningControllers } from './components/start-controllers.ts'
export type { AccessConfig, AuthorizersConfig, JwtConfig, ServiceAccountConfig } from './config/access-config.ts'
export type { AuditConfig, RotationLimits } from './config/audit-config.ts'
export type { ConfigFile } from './config/config-file.ts'
export type {
  ControllerChoice,
  ControlPlaneUser,
  ElectionTiming,
  NodesOptions,
  PlaneConfig,
} from './config/plane-config.ts'
export type { ServingConfig } from './config/serving-config.ts'
export type { EtcdConfig, StoreConfig } from './config/store-config.ts'
export { controlplaneErrorCodes } from './error-codes.ts'
export type { ControlPlaneLevers, VirtualTime } from './faults/levers.ts'
export type { FaultTarget, WriteFault } from './faults/request-faults.ts'
export type { ControlPlane, ControlPlaneClientOptions, ControlPlaneSnapshot } from './host/control-plane.ts'
export { FolderError } from './host/folder-error.ts'
export type { ControlPlaneAddress, ControlPlaneListenOptions } from './host/listen-with.ts'
export { type ServedPlane, serve } from './host/serve.ts'
export { startControlPlane } from './host/start-control-plane.ts'
export { kubeconfigFor } from './identity/kubeconfig-for.ts'
