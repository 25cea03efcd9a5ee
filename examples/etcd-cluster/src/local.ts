// Runs an embedded cluster whose etcd members are processes on this machine.
import { freePorts } from '../../free-ports.ts'
import { runOnThisMachine } from '../../run-on-this-machine.ts'
import { EtcdCluster } from './etcd-cluster.ts'
import { etcdGateway } from './gateway.ts'
import { etcdOperator } from './operator.ts'
import { localSites } from './site.ts'

await runOnThisMachine({
  kind: EtcdCluster,
  operator: async (folder) => {
    const sites = localSites({ folder, firstPort: await freePorts(200) })
    return etcdOperator({ etcd: etcdGateway(), sites })
  },
  commands: [
    'kubectl apply -f examples/etcd-cluster/samples/etcd.yaml',
    'kubectl get etcdclusters --watch',
    'kubectl scale etcdcluster example --replicas 5',
    'kubectl delete pod example-0',
  ],
})
