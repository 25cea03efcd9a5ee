import { defineOperator, type Operator } from 'kubewright'
import { type EtcdWorld, etcdClusterController } from './etcd-cluster.controller.ts'
import { etcdGateway } from './gateway.ts'
import { podSites } from './site.ts'

export const etcdOperator = (world: EtcdWorld): Operator =>
  defineOperator({
    name: 'etcd-operator',
    controllers: [etcdClusterController(world)],
    leaderElection: true,
  })

/** For clusters in which the operator can reach pods by their DNS names. */
export const operator = etcdOperator({ etcd: etcdGateway(), sites: podSites })
