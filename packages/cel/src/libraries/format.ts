// Named string formats (apiserver/pkg/cel/library/format.go).
import {
  GoURL,
  isQualifiedName,
  isValidLabelValue,
  matchesFormat,
  nameIsDNS1035Label,
  nameIsDNSLabel,
  nameIsDNSSubdomain,
} from '@kubewright/base'
import { REGEX_LENGTH_COST, STRING_TRAVERSAL_COST, scaleRange } from '../define/cost-estimate.ts'
import { type CelLibrary, defineLibrary } from '../define/library.ts'
import { noSuchOverload } from '../values/cel-error.ts'
import { type CelType, listType, optionalType, STRING, structType } from '../values/cel-type.ts'
import { ArrayList } from '../values/collections.ts'
import { actualSize, CelOpaque, CelOptional, type CelValue } from '../values/values.ts'
import { NOMINAL_COST, regexCost } from './cost-rules.ts'

/** The type of a named format. */
export const FORMAT_TYPE: CelType = structType('kubernetes.NamedFormat')

/** A named format as a CEL value. */
export class CelFormat extends CelOpaque {
  readonly type: CelType = FORMAT_TYPE
  readonly name: string
  /** Returns the messages of the rules that a text violates. */
  readonly check: (text: string) => readonly string[]
  /** The pattern length used to compute the cost of the check. */
  readonly patternSize: number

  constructor(name: string, patternSize: number, check: (text: string) => readonly string[]) {
    super()
    this.name = name
    this.patternSize = patternSize
    this.check = check
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelFormat)) throw noSuchOverload()
    return this.name === other.name
  }

  override toNative(): string {
    return this.name
  }
}

// The lengths of kube-openapi's patterns for UUIDs and for the time of day.
const UUID_PATTERN_SIZE = 70
const DATE_TIME_PATTERN_SIZE = 71

function openAPIFormat(name: string, patternSize: number, message: string): CelFormat {
  return new CelFormat(name, patternSize, (text) => (matchesFormat(name, text) ? [] : [message]))
}

/** Keyed by the name of the function after `format.`. */
const FORMATS: ReadonlyMap<string, CelFormat> = new Map([
  ['dns1123Label', new CelFormat('DNS1123Label', 30, (text) => nameIsDNSLabel(text, false))],
  ['dns1123Subdomain', new CelFormat('DNS1123Subdomain', 60, (text) => nameIsDNSSubdomain(text, false))],
  ['dns1035Label', new CelFormat('DNS1035Label', 30, (text) => nameIsDNS1035Label(text, false))],
  ['qualifiedName', new CelFormat('QualifiedName', 60, isQualifiedName)],
  ['dns1123LabelPrefix', new CelFormat('DNS1123LabelPrefix', 30, (text) => nameIsDNSLabel(text, true))],
  ['dns1123SubdomainPrefix', new CelFormat('DNS1123SubdomainPrefix', 60, (text) => nameIsDNSSubdomain(text, true))],
  ['dns1035LabelPrefix', new CelFormat('DNS1035LabelPrefix', 30, (text) => nameIsDNS1035Label(text, true))],
  ['labelValue', new CelFormat('LabelValue', 40, isValidLabelValue)],
  ['uri', new CelFormat('URI', 1103, checkURI)],
  ['uuid', openAPIFormat('uuid', UUID_PATTERN_SIZE, 'does not match the UUID format')],
  ['byte', openAPIFormat('byte', 84, 'invalid base64')],
  ['date', openAPIFormat('date', DATE_TIME_PATTERN_SIZE, 'invalid date')],
  ['datetime', openAPIFormat('datetime', DATE_TIME_PATTERN_SIZE, 'invalid datetime')],
])

/** The pattern length that estimates assume for every format. */
const ESTIMATED_PATTERN_SIZE = 128
/** The longest format name that the estimate of `==` assumes. */
const MAX_NAME_SIZE = 64

/** The format functions: format.named, one function per format, and validate. */
export const formatLibrary: CelLibrary = defineLibrary('kubernetes.format', () => ({
  types: [
    {
      type: FORMAT_TYPE,
      identifier: false,
      equalityCost: () => scaleRange({ min: 1, max: MAX_NAME_SIZE }, STRING_TRAVERSAL_COST),
    },
  ],
  functions: [
    ...[...FORMATS].map(([name, format]) => ({
      name: `format.${name}`,
      overloads: [{ id: `format.${name}`, args: [], result: FORMAT_TYPE, evaluate: () => format }],
    })),
    {
      name: 'format.named',
      cost: NOMINAL_COST,
      overloads: [
        {
          id: 'format-named',
          args: [STRING],
          result: optionalType(FORMAT_TYPE),
          evaluate: (name: string) => new CelOptional(FORMATS.get(name)),
        },
      ],
    },
    {
      name: 'validate',
      cost: {
        estimate(call) {
          const text = call.args[0]
          if (text === undefined) return undefined
          const traversal = scaleRange(call.sizeOf(text), STRING_TRAVERSAL_COST)
          return { cost: scaleRange(traversal, ESTIMATED_PATTERN_SIZE * REGEX_LENGTH_COST) }
        },
        track: (_, [format, text]) =>
          format instanceof CelFormat ? regexCost(actualSize(text ?? ''), format.patternSize) : undefined,
      },
      overloads: [
        {
          id: 'format-validate',
          member: true,
          args: [FORMAT_TYPE, STRING],
          result: optionalType(listType(STRING)),
          evaluate(format: CelFormat, text: string) {
            const messages = format.check(text)
            return messages.length === 0 ? CelOptional.NONE : new CelOptional(new ArrayList(messages))
          },
        },
      ],
    },
  ],
}))

function checkURI(text: string): string[] {
  try {
    GoURL.parseRequestURI(text)
    return []
  } catch (error) {
    return [(error as Error).message]
  }
}
