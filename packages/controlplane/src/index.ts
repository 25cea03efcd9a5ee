export { chooseControllers, controllerNames } from './choose-controllers.ts'
export {
  type ControlPlane,
  type ControlPlaneClientOptions,
  type ControlPlaneOptions,
  type ControlPlaneSnapshot,
  type ControlPlaneUser,
  startControlPlane,
} from './control-plane.ts'
export type { ElectionTiming } from './elected-component.ts'
export { controlplaneErrorCodes } from './error-codes.ts'
export { kubeconfigFor } from './kubeconfig-for.ts'
export type { ControlPlaneLevers, VirtualTime } from './levers.ts'
export type { ControlPlaneAddress, ControlPlaneListenOptions } from './listen-with.ts'
export type { FaultTarget, WriteFault } from './request-faults.ts'
export type { ControllerChoice, NodesOptions, RunningControllers } from './start-controllers.ts'
