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

/** For clusters in which the operator can reach pods by their DNS names. */
export const operator = sqlOperator({ database: httpDatabase(), sites: podSites })
