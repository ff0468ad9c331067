import '../http/view.ts'; // layer-messaging
