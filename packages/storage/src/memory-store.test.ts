import { test } from 'vitest'
import { storageContract } from './contract.ts'
import { MemoryStore } from './memory-store.ts'

storageContract('MemoryStore', test, async () => new MemoryStore())
