export type { CallOptions, Client, Key, ListOptions, Reader } from './client.ts'
