import { describePlanted } from './testdata/describe-planted.ts'
import { plantedStyles } from './testdata/planted-styles.ts'

describePlanted(plantedStyles)
