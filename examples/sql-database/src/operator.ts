import { defineOperator, type Operator } from 'kubewright'
import { httpDatabase } from './http-database.ts'
import type { SqlWorld } from './observe.ts'
import { podSites } from './site.ts'
import { sqlDatabaseController } from './sql-database.controller.ts'

export const sqlOperator = (world: SqlWorld): Operator =>
  defineOperator({
    name: 'sql-operator',
    controllers: [sqlDatabaseController(world)],
    leaderElection: true,
  })

/** For clusters whose pods have addresses and DNS names, and where the operator can reach them. */
export const operator = sqlOperator({ database: httpDatabase(), sites: podSites })
