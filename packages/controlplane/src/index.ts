export {
  type ControlPlane,
  type ControlPlaneOptions,
  type ControlPlaneSnapshot,
  type ControlPlaneUser,
  startControlPlane,
} from './control-plane.ts'
export { kubeconfigFor } from './kubeconfig-for.ts'
export type { ControlPlaneAddress, ControlPlaneListenOptions } from './listen-with.ts'
export {
  type ControllerChoice,
  controllerNames,
  type NodesOptions,
  type RunningControllers,
} from './start-controllers.ts'
