import { expect, test } from 'vitest'
import { imageTag } from './image-tag.ts'

const digest = `sha256:${'0123456789abcdef'.repeat(4)}`

test.each([
  ['nginx', 'latest'],
  ['nginx:latest', 'latest'],
  ['nginx:1.25', '1.25'],
  ['localhost:5000/a/b', 'latest'],
  ['localhost:5000/a/b:v1', 'v1'],
  ['[2001:db8::1]:5000/a:v1', 'v1'],
  [`nginx@${digest}`, ''],
  [`nginx:1.25@${digest}`, '1.25'],
  ['Host/case', 'latest'],
  ['Upper', ''],
  ['a/Upper', ''],
  ['', ''],
  [' nginx', ''],
  ['a'.repeat(64), ''],
  ['b'.repeat(247), 'latest'],
  ['b'.repeat(248), ''],
  [`example.com/${'b'.repeat(255)}:v1`, 'v1'],
])('imageTag() of %j is %j', (image, tag) => {
  expect(imageTag(image)).toBe(tag)
})
