import { isNotFound } from 'kubewright'
import { CustomResourceDefinition } from 'kubewright/k8s'
import { isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { Fruit, fruitDefinition } from './fruit.ts'

const apple = (spec: object = {}) =>
  // The cast lets the server reject what the compiler would reject.
  Fruit({
    metadata: { name: 'apple' },
    spec: { sweetness: false, weight: 100, comment: 'little bit rotten', ...spec },
  })
const definition = 'fruits.user.k8sasdb.org'

async function start(): Promise<TestEnv & { readonly warnings: string[] }> {
  const env = await startTestEnv(undefined, { nodes: 0 })
  await env.client.create(fruitDefinition)
  await env.until(CustomResourceDefinition, definition, isTrue('Established'))
  const warnings: string[] = []
  return { ...env, client: env.controlPlane.client({ onWarning: (text) => warnings.push(text) }), warnings }
}

describe('Fruit', () => {
  test('a: is served under its names', async () => {
    await using env = await start()
    const { status } = await env.client.get(CustomResourceDefinition, definition)
    const types = status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)
    expect(types).toEqual(['NamesAccepted True', 'Established True'])
    expect(status?.acceptedNames).toEqual({ kind: 'Fruit', listKind: 'FruitList', plural: 'fruits', singular: 'fruit' })
    expect(status?.storedVersions).toEqual(['v1'])
  })

  test('b: stores an apple and shows its name and age', async () => {
    await using env = await start()
    const created = await env.client.create(apple())
    expect(created.metadata.generation).toBe(1)
    expect(created.spec).toEqual({ sweetness: false, weight: 100, comment: 'little bit rotten' })
    const table = (await env.client.rest.json({
      method: 'GET',
      path: '/apis/user.k8sasdb.org/v1/namespaces/default/fruits',
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    })) as { columnDefinitions: { name: string }[]; rows: { cells: unknown[] }[] }
    expect(table.columnDefinitions.map(({ name }) => name)).toEqual(['Name', 'Age'])
    expect(table.rows.map(({ cells }) => cells[0])).toEqual(['apple'])
  })

  test.each([
    ['100', 'string'],
    [100.5, 'number'],
  ])('c: rejects %j as a weight', async (weight, type) => {
    await using env = await start()
    await expect(env.client.create(apple({ weight }))).rejects.toThrow(
      `spec.weight: Invalid value: "${type}": spec.weight in body must be of type integer: "${type}"`,
    )
  })

  test('d: rejects an unknown field when strict, else warns and prunes it', async () => {
    await using env = await start()
    const red = apple({ color: 'red' })
    await expect(env.client.create(red, { fieldValidation: 'Strict' })).rejects.toThrow(
      'strict decoding error: unknown field "spec.color"',
    )
    const created = await env.client.create(red)
    expect(created.spec).not.toHaveProperty('color')
    expect(env.warnings).toEqual(['unknown field "spec.color"'])
  })

  test('e: has no status, even after a write to the subresource', async () => {
    await using env = await start()
    const { metadata } = await env.client.create(apple())
    const patched = await env.client.subresource(Fruit, 'status').patch('apple', { status: { ripe: true } } as object)
    expect(patched).not.toHaveProperty('status')
    expect(patched.metadata.resourceVersion).toBe(metadata.resourceVersion)
    expect(env.warnings).toEqual(['unknown field "status"'])
  })

  test('f: describes its fields for kubectl explain', async () => {
    await using env = await start()
    const document = (await env.client.rest.json({ method: 'GET', path: '/openapi/v3/apis/user.k8sasdb.org/v1' })) as {
      components: { schemas: Record<string, { properties?: { spec?: { properties?: object } } }> }
    }
    const { properties } = document.components.schemas['org.k8sasdb.user.v1.Fruit']?.properties?.spec ?? {}
    expect(properties).toEqual({
      comment: { type: 'string' },
      sweetness: { type: 'boolean' },
      weight: { type: 'integer' },
    })
  })

  test('g: deletes all apples when its CRD is deleted', async () => {
    await using env = await start()
    await env.client.create(apple())
    await env.client.delete(CustomResourceDefinition, definition)
    await env.gone(CustomResourceDefinition, definition)
    const listing = env.client.list(Fruit)
    await expect(listing).rejects.toSatisfy(isNotFound)
    await expect(listing).rejects.toThrow('the server could not find the requested resource')

    await env.client.create(fruitDefinition)
    await env.until(CustomResourceDefinition, definition, isTrue('Established'))
    expect(await env.client.list(Fruit)).toEqual([])
  })
})
