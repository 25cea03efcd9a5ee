import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { type FieldError, invalid } from '@kubewright/schema'
import { semanticEqual } from '../../resource/semantic-equal.ts'
import { specPath, structValue } from '../checks/strategy-checks.ts'
import type { Unchecked } from '../typed/unchecked.ts'

type SchemaSpec = Unchecked<flowcontrol.FlowSchemaSpec>
type LevelSpec = Unchecked<flowcontrol.PriorityLevelConfigurationSpec>

// The specs of the mandatory objects "exempt" and "catch-all", which clients cannot change (apiserver/pkg/apis/flowcontrol).

const everything = {
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
}

function groups(...names: string[]): NonNullable<SchemaSpec['rules']>[number]['subjects'] {
  return names.map((name) => ({ kind: 'Group', group: { name } }))
}

const schemas: Readonly<Record<string, SchemaSpec>> = {
  exempt: {
    priorityLevelConfiguration: { name: 'exempt' },
    matchingPrecedence: 1,
    rules: [{ subjects: groups('system:masters'), ...everything }],
  },
  'catch-all': {
    priorityLevelConfiguration: { name: 'catch-all' },
    matchingPrecedence: 10_000,
    distinguisherMethod: { type: 'ByUser' },
    rules: [{ subjects: groups('system:unauthenticated', 'system:authenticated'), ...everything }],
  },
}
const catchAll: LevelSpec = {
  type: 'Limited',
  limited: { nominalConcurrencyShares: 5, limitResponse: { type: 'Reject' }, lendablePercent: 0 },
}

/** Rejects changes of the spec of a mandatory flow schema. */
export function checkMandatorySchema(errors: FieldError[], name: string, spec: SchemaSpec): void {
  const wanted = Object.hasOwn(schemas, name) ? schemas[name] : undefined
  if (!wanted || semanticEqual(spec, wanted)) return
  errors.push(invalid(specPath, structValue(goSchema(spec)), `spec of '${name}' must equal the fixed value`))
}

/** Rejects changes of the spec of a mandatory priority level. */
export function checkMandatoryLevel(errors: FieldError[], name: string, spec: LevelSpec): void {
  if (name === 'exempt' && (spec.type !== 'Exempt' || spec.limited)) {
    const text = "spec of 'exempt' except the 'spec.exempt' field must equal the fixed value"
    errors.push(invalid(specPath, structValue(goLevel(spec)), text))
  } else if (name === 'catch-all' && !semanticEqual(spec, catchAll)) {
    errors.push(invalid(specPath, structValue(goLevel(spec)), "spec of 'catch-all' must equal the fixed value"))
  }
}

/** The spec of a flow schema in the form of the internal Go type, as errors show it. */
function goSchema(spec: SchemaSpec): object {
  const method = spec.distinguisherMethod
  return {
    PriorityLevelConfiguration: { Name: spec.priorityLevelConfiguration?.name ?? '' },
    MatchingPrecedence: spec.matchingPrecedence ?? 0,
    DistinguisherMethod: method ? { Type: method.type ?? '' } : null,
    Rules:
      spec.rules?.map(({ subjects, resourceRules, nonResourceRules }) => ({
        Subjects:
          subjects?.map(({ kind = '', user, group, serviceAccount: account }) => ({
            Kind: kind,
            User: user ? { Name: user.name ?? '' } : null,
            Group: group ? { Name: group.name ?? '' } : null,
            ServiceAccount: account ? { Namespace: account.namespace ?? '', Name: account.name ?? '' } : null,
          })) ?? null,
        ResourceRules:
          resourceRules?.map(({ verbs, apiGroups, resources, clusterScope, namespaces }) => ({
            Verbs: verbs ?? null,
            APIGroups: apiGroups ?? null,
            Resources: resources ?? null,
            ClusterScope: clusterScope ?? false,
            Namespaces: namespaces ?? null,
          })) ?? null,
        NonResourceRules:
          nonResourceRules?.map(({ verbs, nonResourceURLs }) => ({
            Verbs: verbs ?? null,
            NonResourceURLs: nonResourceURLs ?? null,
          })) ?? null,
      })) ?? null,
  }
}

function goLevel({ type, limited, exempt }: LevelSpec): object {
  const queuing = limited?.limitResponse?.queuing
  return {
    Type: type ?? '',
    Limited: limited
      ? {
          NominalConcurrencyShares: limited.nominalConcurrencyShares ?? 0,
          LimitResponse: {
            Type: limited.limitResponse?.type ?? '',
            Queuing: queuing
              ? {
                  Queues: queuing.queues ?? 0,
                  HandSize: queuing.handSize ?? 0,
                  QueueLengthLimit: queuing.queueLengthLimit ?? 0,
                }
              : null,
          },
          LendablePercent: limited.lendablePercent ?? null,
          BorrowingLimitPercent: limited.borrowingLimitPercent ?? null,
        }
      : null,
    Exempt: exempt
      ? {
          NominalConcurrencyShares: exempt.nominalConcurrencyShares ?? null,
          LendablePercent: exempt.lendablePercent ?? null,
        }
      : null,
  }
}
