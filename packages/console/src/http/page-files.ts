import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { KubewrightError } from '@kubewright/base'

/** The files of the page by name. */
export type PageFiles = Readonly<Record<string, string>>

/** The files that a page consists of. */
const pageFileNames = ['index.html', 'icon.svg', 'page.js', 'page.css'] as const

/** Reads the page that was built into this package. */
export async function readPageFiles(): Promise<PageFiles> {
  const folder = join(packageFolder(), 'dist', 'page')
  try {
    const texts = await Promise.all(pageFileNames.map((name) => readFile(join(folder, name), 'utf8')))
    return Object.fromEntries(pageFileNames.map((name, index) => [name, texts[index] ?? '']))
  } catch (error) {
    throw new KubewrightError(
      'KW_CONSOLE_PAGE',
      `Cannot read the page of the console in ${folder}: run npm run build`,
      {
        cause: error,
      },
    )
  }
}

/** The folder of this package, for its sources and for its bundle. */
function packageFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (!existsSync(join(folder, 'package.json')) && folder !== dirname(folder)) folder = dirname(folder)
  return folder
}
