import { expect, test } from 'vitest'
import { checkAccept } from './route-errors.ts'

test.each([undefined, '', '*/*', 'application/json', 'text/html, application/json;q=0.1'])(
  'checkAccept() accepts %j for JSON',
  (accept) => {
    expect(() => checkAccept(accept, 'application/json')).not.toThrow()
  },
)

test.each(['text/html', 'application/*'])('checkAccept() rejects %j', (accept) => {
  expect(() => checkAccept(accept, 'application/json')).toThrow('Available representations: application/json')
})
