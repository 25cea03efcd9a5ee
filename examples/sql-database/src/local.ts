// Runs an embedded cluster whose database instances are processes on this machine.
import { freePorts } from '../../free-ports.ts'
import { runOnThisMachine } from '../../run-on-this-machine.ts'
import { httpDatabase } from './http-database.ts'
import { sqlOperator } from './operator.ts'
import { localSites } from './site.ts'
import { SqlDatabase } from './sql-database.ts'

await runOnThisMachine({
  kind: SqlDatabase,
  operator: async (folder) => {
    const sites = localSites({ folder, firstPort: await freePorts(20) })
    return sqlOperator({ database: httpDatabase(), sites })
  },
  commands: [
    'kubectl apply -f examples/sql-database/samples/database.yaml',
    'kubectl get sqldatabases --watch',
    'kubectl delete pod example-0',
    'kubectl get sqldatabase example -o yaml',
  ],
})
