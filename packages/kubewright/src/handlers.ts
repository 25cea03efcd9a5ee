// Controllers that are defined by handlers of events.
export { type ChangeContext, type DaemonContext, defineHandlers, type HandlersOptions } from '@kubewright/runtime'
