// Quantities (apiserver/pkg/cel/library/quantity.go).
import { Quantity } from '@kubewright/base'
import { exactly } from '../define/cost-estimate.ts'
import { type CelFunction, type CelLibrary, type CelOverload, defineLibrary } from '../define/library.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { BOOL, type CelType, DOUBLE, INT, STRING, structType } from '../values/cel-type.ts'
import { CelDouble, type CelInt, CelOpaque, type CelValue, intOf } from '../values/values.ts'
import { NOMINAL_COST, traversalOfFirst } from './cost-rules.ts'

/** The result type of quantity(). */
export const QUANTITY_TYPE: CelType = structType('kubernetes.Quantity')

/** A quantity as a CEL value. */
export class CelQuantity extends CelOpaque {
  readonly type: CelType = QUANTITY_TYPE
  readonly quantity: Quantity
  /**
   * Whether this is a result of add() or sub(). In Kubernetes such a value is wrapped differently: as the right operand
   * of `==` it fails with "no such overload"; as the left operand it compares normally.
   */
  readonly isComputed: boolean

  constructor(quantity: Quantity, isComputed = false) {
    super()
    this.quantity = quantity
    this.isComputed = isComputed
  }

  /** Parses a quantity. Throws a CelError with Kubernetes' text. */
  static parse(text: string): CelQuantity {
    try {
      return new CelQuantity(Quantity.parse(text))
    } catch (error) {
      throw new CelError((error as Error).message)
    }
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelQuantity) || other.isComputed) throw noSuchOverload()
    return this.quantity.equal(other.quantity)
  }

  override toNative(): string {
    return this.quantity.toString()
  }
}

/** The quantity functions: quantity, isQuantity, sign, comparisons, conversions to numbers, add, sub. */
export const quantityLibrary: CelLibrary = defineLibrary('kubernetes.quantity', () => ({
  types: [{ type: QUANTITY_TYPE, identifier: false, equalityCost: () => exactly(1) }],
  functions: [
    {
      name: 'quantity',
      cost: traversalOfFirst(),
      overloads: [{ id: 'string_to_quantity', args: [STRING], result: QUANTITY_TYPE, evaluate: CelQuantity.parse }],
    },
    {
      name: 'isQuantity',
      cost: traversalOfFirst(),
      overloads: [
        {
          id: 'is_quantity_string',
          args: [STRING],
          result: BOOL,
          evaluate: (text: string) => Quantity.tryParse(text) !== undefined,
        },
      ],
    },
    {
      name: 'sign',
      cost: NOMINAL_COST,
      // A function, not a method: sign(quantity('1')).
      overloads: [
        {
          id: 'quantity_sign',
          args: [QUANTITY_TYPE],
          result: INT,
          evaluate: ({ quantity }: CelQuantity) => quantity.sign,
        },
      ],
    },
    unary('asApproximateFloat', 'quantity_get_float', DOUBLE, (q) => new CelDouble(q.asApproximateFloat64())),
    unary('asInteger', 'quantity_get_int', INT, asInteger),
    unary('isInteger', 'quantity_is_integer', BOOL, (q) => q.isInteger()),
    binary('isGreaterThan', 'quantity_is_greater_than', BOOL, (a, b) => a.cmp(b) > 0),
    binary('isLessThan', 'quantity_is_less_than', BOOL, (a, b) => a.cmp(b) < 0),
    binary('compareTo', 'quantity_compare_to', INT, (a, b) => a.cmp(b)),
    { name: 'add', cost: NOMINAL_COST, overloads: arithmetic('quantity_add', (a, b) => a.add(b)) },
    { name: 'sub', cost: NOMINAL_COST, overloads: arithmetic('quantity_sub', (a, b) => a.sub(b)) },
  ],
}))

function unary(name: string, id: string, result: CelType, apply: (q: Quantity) => CelValue): CelFunction {
  const evaluate = (value: CelQuantity): CelValue => apply(value.quantity)
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args: [QUANTITY_TYPE], result, evaluate }] }
}

function binary(name: string, id: string, result: CelType, apply: (a: Quantity, b: Quantity) => CelValue): CelFunction {
  const evaluate = (a: CelQuantity, b: CelQuantity): CelValue => apply(a.quantity, b.quantity)
  const args = [QUANTITY_TYPE, QUANTITY_TYPE]
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args, result, evaluate }] }
}

function arithmetic(id: string, apply: (a: Quantity, b: Quantity) => Quantity): CelOverload[] {
  const shared = { member: true, result: QUANTITY_TYPE }
  return [
    {
      ...shared,
      id,
      args: [QUANTITY_TYPE, QUANTITY_TYPE],
      evaluate: (a: CelQuantity, b: CelQuantity) => new CelQuantity(apply(a.quantity, b.quantity), true),
    },
    {
      ...shared,
      id: `${id}_int`,
      args: [QUANTITY_TYPE, INT],
      evaluate: (a: CelQuantity, b: CelInt) =>
        new CelQuantity(apply(a.quantity, Quantity.of(b, 'DecimalExponent')), true),
    },
  ]
}

function asInteger(quantity: Quantity): CelInt {
  const value = quantity.asInt64()
  if (value === undefined) throw new CelError('cannot convert value to integer')
  return intOf(value)
}
