import { type AnyKind, defineResource } from '@kubewright/api'
import { s } from '@kubewright/schema'
import ts from 'typescript'

/** Compiles and evaluates a generated module, and returns its exports. */
export function evaluateModule(text: string): Record<string, AnyKind> {
  const { outputText } = ts.transpileModule(text, {
    compilerOptions: { module: ts.ModuleKind.CommonJS, target: ts.ScriptTarget.ES2022 },
  })
  const exports: Record<string, AnyKind> = {}
  const required = (name: string): unknown => {
    if (name !== 'kubewright') throw new Error(`a generated module imports ${name}`)
    return { defineResource, s }
  }
  new Function('exports', 'require', outputText)(exports, required)
  return exports
}
