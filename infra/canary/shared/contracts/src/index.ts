import 'express'; // contracts-on-zod-alone
import '../../runtime/src/index.ts'; // package-contracts
