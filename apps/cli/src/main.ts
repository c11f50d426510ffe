import { runCommandLine } from './command-line';
import { EXIT } from './terminal';

// Whoever reads the output may have seen enough (`runyard streams | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.ok);
});

// Ends at once, also where a connection is still trying to come up.
void runCommandLine(process.argv).then((code) => process.exit(code));
