import { describe, expect, test } from 'vitest'
import { acceptNames } from './accept-names.ts'
import { asCrd, type Crd, type CrdNames, type CrdStatus } from './crd.ts'

function crd(names: CrdNames, status: CrdStatus = {}): Crd {
  return asCrd({ apiVersion: '', kind: '', metadata: {}, spec: { names }, status })
}

const widget: CrdNames = { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' }
const taken = crd(widget, { acceptedNames: { ...widget, shortNames: ['w', 'wd'] } })

describe('acceptNames()', () => {
  test('accepts names that are not in use', () => {
    const names = { ...widget, shortNames: ['w'], categories: ['all'] }
    const verdict = acceptNames(crd(names), [])
    expect(verdict.acceptedNames).toEqual(names)
    expect(verdict.namesAccepted).toMatchObject({ status: 'True', reason: 'NoConflicts' })
    expect(verdict.established).toMatchObject({ status: 'False', reason: 'Installing' })
  })

  test('accepts the other names when one is in use, and reports it', () => {
    const names = { plural: 'gadgets', singular: 'gadget', kind: 'Widget', listKind: 'GadgetList' }
    const { acceptedNames, namesAccepted, established } = acceptNames(crd(names), [taken])
    expect(acceptedNames).toEqual({ plural: 'gadgets', singular: 'gadget', listKind: 'GadgetList' })
    expect(namesAccepted).toMatchObject({
      status: 'False',
      reason: 'KindConflict',
      message: '"Widget" is already in use',
    })
    expect(established).toMatchObject({ status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' })
  })

  test('reports every short name that is in use', () => {
    const { namesAccepted } = acceptNames(crd({ plural: 'x', shortNames: ['w', 'x', 'wd'] }), [taken])
    expect(namesAccepted.message).toBe('["w" is already in use, "wd" is already in use]')
  })

  test('keeps an established CRD and its accepted names', () => {
    const status: CrdStatus = {
      acceptedNames: { plural: 'gadgets', kind: 'Gadget' },
      conditions: [{ type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'ok' }],
    }
    const verdict = acceptNames(crd({ plural: 'gadgets', kind: 'Gadget', singular: 'widget' }, status), [taken])
    expect(verdict.acceptedNames).toEqual({ plural: 'gadgets', kind: 'Gadget' })
    expect(verdict.namesAccepted).toMatchObject({ status: 'False', reason: 'SingularConflict' })
    expect(verdict.established).toMatchObject({ status: 'True', reason: 'InitialNamesAccepted' })
  })

  test('does not report names that the CRD itself uses', () => {
    const { namesAccepted } = acceptNames({ ...taken, spec: { names: { ...widget, shortNames: ['w'] } } }, [taken])
    expect(namesAccepted.status).toBe('True')
  })
})
