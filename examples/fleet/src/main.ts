import { run } from 'kubewright'
import { operator } from './operator.ts'

await run(operator)
