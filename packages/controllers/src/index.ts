export { replicaSetController, replicationController } from './replica-set/replica-set-controller.ts'
