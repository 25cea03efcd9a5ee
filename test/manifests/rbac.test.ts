// The generated roles are sufficient and minimal: the examples run with them, and fail without any one of their permissions.
import { type Controller, defineOperator, type PolicyRule } from '@kubewright/runtime'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../sampled.ts'
import {
  type DeployedOperator,
  type GrantedRole,
  type InstalledOperator,
  installOperator,
  type RunOptions,
  rolesOf,
  scraperToken,
} from './deployed-operator.ts'
import { type OperatorScenario, scenarios } from './operator-scenarios.ts'

// Most runs take less than a second on an idle machine.
const minutes = (count: number): number => count * 60_000

/** One verb of one resource in one role. */
interface Right {
  readonly role: GrantedRole
  readonly rule: PolicyRule
}

const nameOf = ({ role, rule: { apiGroups = [], resources = [], resourceNames = [], verbs } }: Right): string =>
  [`${verbs} ${apiGroups}/${resources}`, ...resourceNames, `of ${role.metadata.name}`].join(' ')

function rightsOf(roles: readonly GrantedRole[]): Right[] {
  return roles.flatMap((role) => role.rules.flatMap(singleRules).map((rule) => ({ role, rule })))
}

function singleRules({ apiGroups = [], resources = [], resourceNames, verbs }: PolicyRule): PolicyRule[] {
  const names = resourceNames?.map((name) => ({ resourceNames: [name] })) ?? [{}]
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) =>
        names.map((named) => ({ apiGroups: [group], resources: [resource], ...named, verbs: [verb] })),
      ),
    ),
  )
}

/** The role without the right. */
function without({ role, rule }: Right): GrantedRole {
  const kept = role.rules.flatMap(singleRules).filter((other) => JSON.stringify(other) !== JSON.stringify(rule))
  return { ...role, rules: kept }
}

/** Runs a scenario until it is done or a request is forbidden. Resolves to the messages of all forbidden requests. */
async function refusedIn(
  { make, use }: OperatorScenario,
  installed: InstalledOperator,
  options: RunOptions,
): Promise<string[]> {
  await using deployed = await installed.run({ ...make(), ...options })
  const whole = doAll(deployed, use)
  // After a forbidden request, the outcome of the scenario does not matter.
  whole.catch(() => undefined)
  await Promise.race([whole, deployed.firstRefusal])
  return [...deployed.refused.values()]
}

async function doAll(deployed: DeployedOperator, use: OperatorScenario['use']): Promise<void> {
  await deployed.ready
  await use(deployed)
  expect(await deployed.metrics(scraperToken)).toBe(403)
  await deployed.stop()
}

/** The message of the server for a missing right. */
function refusalFor({ apiGroups = [], resources = [], verbs }: PolicyRule): string {
  const [resource = ''] = resources
  if (resource.endsWith('/finalizers')) return "refers to a resource you can't set finalizers on"
  return `cannot ${verbs} resource "${resource}" in API group "${apiGroups}"`
}

describe.each(scenarios)('the generated roles of $name', (scenario) => {
  const { make, options, differsIn = '' } = scenario
  let installed: InstalledOperator
  beforeAll(async () => {
    const { operator, nodes } = make()
    installed = await installOperator(operator, { ...options, nodes })
  })
  afterAll(() => installed[Symbol.asyncDispose]())

  test(
    'are sufficient',
    async () => {
      expect(await refusedIn(scenario, installed, {})).toEqual([])
    },
    minutes(3),
  )

  test(
    'are sufficient on servers without streaming lists and networks that lose responses',
    async () => {
      expect(await refusedIn(scenario, installed, { isRough: true })).toEqual([])
    },
    minutes(3),
  )

  const roles = rolesOf(make().operator, options).filter(({ metadata }) => metadata.name.endsWith(differsIn))
  const all = rightsOf(roles).map((right) => [nameOf(right), right] as const)
  const rights = sampled(all.length).map((number) => all[number - 1]!)
  test.each(rights)(
    'are insufficient without %s',
    async (_, right) => {
      const refused = await refusedIn(scenario, installed, { isRough: true, roles: [without(right)] })
      expect(refused[0] ?? 'no request was forbidden').toContain(refusalFor(right.rule))
    },
    minutes(3),
  )
})

test(
  'the test detects an unneeded right',
  async () => {
    const [scenario] = scenarios as readonly [OperatorScenario]
    const { operator } = scenario.make()
    const [controller] = operator.controllers as readonly [Controller]
    const rbac = [...controller.rbac, { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }]
    const greedy = defineOperator({ ...operator, controllers: [{ ...controller, rbac }] })
    const right = rightsOf(rolesOf(greedy)).find(({ rule }) => rule.resources?.includes('configmaps'))
    await using installed = await installOperator(greedy)
    const run = { ...scenario, make: () => ({ operator: greedy }) }
    expect(await refusedIn(run, installed, { isRough: true, roles: [without(right!)] })).toEqual([])
  },
  minutes(3),
)
