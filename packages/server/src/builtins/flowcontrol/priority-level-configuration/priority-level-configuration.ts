import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { unsupported } from '../../checks/field-checks.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { metadataPath, part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkMandatoryLevel } from '../mandatory-specs.ts'
import { validateFlowConditions } from '../validate-flow-conditions.ts'
import { priorityLevelConfigurationTable } from './priority-level-configuration-table.ts'

type Spec = Unchecked<flowcontrol.PriorityLevelConfigurationSpec>
type Limited = NonNullable<Spec['limited']>
type Queuing = NonNullable<NonNullable<Limited['limitResponse']>['queuing']>

const maxQueues = 10_000_000
/** The number of hash bits that shuffle sharding uses. */
const maxHashBits = 60
const reservedAnnotation = 'flowcontrol.k8s.io/v1beta3-preserve-zero-concurrency-shares'

/** PriorityLevelConfigurations (pkg/registry/flowcontrol/prioritylevelconfiguration). */
export const priorityLevelConfigurations: BuiltinDefinition = defineBuiltin({
  group: 'flowcontrol.apiserver.k8s.io',
  resource: 'prioritylevelconfigurations',
  table: priorityLevelConfigurationTable,
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      metadataOnUpdate: ['create'],
      setDefaults: (object) => setDefaults(part<Spec>(object, 'spec')),
      generation: true,
      validate: validateLevel,
      validateUpdate: validateLevel,
    },
    { resets: ['metadata', 'spec'], prepareForUpdate: resetForStatus, validateUpdate: validateFlowConditions },
  ),
})

function setDefaults({ limited, exempt }: Spec): void {
  if (limited) {
    limited.nominalConcurrencyShares ??= 30
    limited.lendablePercent ??= 0
    const queuing = limited.limitResponse?.queuing
    if (queuing) {
      queuing.handSize ||= 8
      queuing.queues ||= 64
      queuing.queueLengthLimit ||= 50
    }
  }
  if (exempt) {
    exempt.nominalConcurrencyShares ??= 0
    exempt.lendablePercent ??= 0
  }
}

function validateLevel(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { name, annotations } = object.metadata
  if (annotations?.[reservedAnnotation] !== undefined) {
    errors.push(forbidden(metadataPath.child('annotations'), `annotation '${reservedAnnotation}' is forbidden`))
  }
  const spec = part<Spec>(object, 'spec')
  const { type = '', limited, exempt } = spec
  const typePath = specPath.child('type')
  if ((name === 'exempt') !== (type === 'Exempt')) {
    errors.push(invalid(typePath, type, "must be 'Exempt' if and only if `name` is 'exempt'"))
  }
  if (type === 'Exempt') {
    if (limited) errors.push(forbidden(specPath.child('limited'), 'must be nil if the type is not Limited'))
    if (exempt) checkShares(errors, specPath.child('exempt'), exempt)
  } else if (type === 'Limited') {
    if (exempt) errors.push(forbidden(specPath.child('exempt'), 'must be nil if the type is Limited'))
    if (limited) validateLimited(limited, specPath.child('limited'), errors)
    else errors.push(required(specPath.child('limited'), 'must not be empty when type is Limited'))
  } else errors.push(unsupported(typePath, type, ['Exempt', 'Limited']))
  checkMandatoryLevel(errors, name ?? '', spec)
  return [...errors, ...validateFlowConditions(object)]
}

interface Shares {
  nominalConcurrencyShares?: number | undefined
  lendablePercent?: number | undefined
}

function checkNominal(errors: FieldError[], path: FieldPath, { nominalConcurrencyShares: shares = 0 }: Shares): void {
  if (shares < 0) {
    errors.push(invalid(path.child('nominalConcurrencyShares'), shares, 'must be a non-negative integer'))
  }
}

function checkLendable(errors: FieldError[], path: FieldPath, { lendablePercent: percent = 0 }: Shares): void {
  if (percent < 0 || percent > 100) {
    errors.push(invalid(path.child('lendablePercent'), percent, 'must be between 0 and 100, inclusive'))
  }
}

function checkShares(errors: FieldError[], path: FieldPath, shares: Shares): void {
  checkNominal(errors, path, shares)
  checkLendable(errors, path, shares)
}

function validateLimited(limited: Limited, path: FieldPath, errors: FieldError[]): void {
  checkNominal(errors, path, limited)
  const { type = '', queuing } = limited.limitResponse ?? {}
  const at = path.child('limitResponse')
  if (type === 'Reject') {
    if (queuing) {
      errors.push(forbidden(at.child('queuing'), 'must be nil if limited.limitResponse.type is not Limited'))
    }
  } else if (type === 'Queue') {
    if (queuing) validateQueuing(queuing, at.child('queuing'), errors)
    else errors.push(required(at.child('queuing'), 'must not be empty if limited.limitResponse.type is Limited'))
  } else errors.push(unsupported(at.child('type'), type, ['Queue', 'Reject']))
  checkLendable(errors, path, limited)
  const borrowing = limited.borrowingLimitPercent ?? 0
  if (borrowing < 0) {
    const text = 'if specified, must be a non-negative integer'
    errors.push(invalid(path.child('borrowingLimitPercent'), borrowing, text))
  }
}

function validateQueuing(
  { queues = 0, handSize = 0, queueLengthLimit = 0 }: Queuing,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (queueLengthLimit <= 0) errors.push(invalid(path.child('queueLengthLimit'), queueLengthLimit, 'must be positive'))
  if (queues <= 0) errors.push(invalid(path.child('queues'), queues, 'must be positive'))
  else if (queues > maxQueues) {
    errors.push(invalid(path.child('queues'), queues, `must not be greater than ${maxQueues}`))
  }
  const handPath = path.child('handSize')
  if (handSize <= 0) errors.push(invalid(handPath, handSize, 'must be positive'))
  else if (handSize > queues) {
    errors.push(invalid(handPath, handSize, `should not be greater than queues (${queues})`))
  } else if (Math.ceil(Math.log2(queues) * handSize) > maxHashBits) {
    const sizes = `deckSize ${queues} and handSize ${handSize}`
    const text = `required entropy bits of ${sizes} should not be greater than ${maxHashBits}`
    errors.push(invalid(handPath, handSize, text))
  }
}
