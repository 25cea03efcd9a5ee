/** Returns its argument, so that a derived class adds its private fields to an existing object. */
export class Existing {
  constructor(object: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the purpose of the class
    return object
  }
}
