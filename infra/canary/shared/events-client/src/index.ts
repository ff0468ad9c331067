import 'express'; // events-client-on-amqplib-alone
import '../../contracts/src/index.ts'; // package-events-client
