// Prints the definition, for kubectl.
import { fruitDefinition } from './fruit.ts'

console.log(JSON.stringify(fruitDefinition, undefined, 2))
