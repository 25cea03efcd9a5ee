// Prints the CustomResourceDefinition, for kubectl.
import { fruitDefinition } from './fruit.ts'

console.log(JSON.stringify(fruitDefinition, undefined, 2))
