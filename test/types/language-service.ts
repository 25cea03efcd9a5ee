// The language service that editors use, for one module of a test.
import { join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '../..')

/** A language service for one module. The module exists only in the service; its path decides which packages it finds. */
export function languageService(file: string, source: string): ts.LanguageService {
  const options: ts.CompilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
    customConditions: ['kubewright-source'],
    types: ['node'],
  }
  const read = (path: string): string | undefined => (path === file ? source : ts.sys.readFile(path))
  return ts.createLanguageService({
    ...ts.sys,
    useCaseSensitiveFileNames: () => true,
    fileExists: (path) => path === file || ts.sys.fileExists(path),
    readFile: read,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot(path) {
      const text = read(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => options,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
  })
}
