// The program of an operator without controllers.
import { defineController, defineOperator, defineResource, run, s } from 'kubewright'

const Home = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Home', spec: s.object({}) })
const homes = defineController(Home, { reconcile: () => undefined })

await run(defineOperator({ name: 'idle-operator', controllers: [homes], leaderElection: true }))
console.log('stopped')
