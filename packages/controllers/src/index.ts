export { daemonSetController } from './daemon-set/daemon-set-controller.ts'
export { deploymentController } from './deployment/deployment-controller.ts'
export { replicaSetController, replicationController } from './replica-set/replica-set-controller.ts'
export { statefulSetController } from './stateful-set/stateful-set-controller.ts'
