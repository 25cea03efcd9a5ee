export {
  type ControlPlane,
  type ControlPlaneOptions,
  type ControlPlaneSnapshot,
  type ControlPlaneUser,
  controllerNames,
  startControlPlane,
} from './control-plane.ts'
export { kubeconfigFor } from './kubeconfig-for.ts'
export type { ControlPlaneAddress, ControlPlaneListenOptions } from './listen-with.ts'
export type { ControllerChoice, NodesOptions, RunningControllers } from './start-controllers.ts'
